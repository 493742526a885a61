import { docker } from './worker-image.ts';

const images = ['python', 'ruby'].map((name) => `mahabharatha-${name}:bookworm`);
const there = docker.why === '' ? await Promise.all(images.map((image) => docker.engine.inspectImage(image))) : [];
const missing = images.filter((_, at) => there[at] === undefined);

/** Why tests of Python and Ruby are skipped; empty when they run. In CI their absence fails. */
export const whyNoLanguages =
  docker.why ||
  (missing.length === 0 ? '' : `no ${missing.join(', ')}: docker/air-gapped/build-runtimes.sh makes them`);
if (whyNoLanguages !== '' && process.env['CI'] === 'true') throw new Error(`Tests cannot run: ${whyNoLanguages}`);

/** Lines for the part "languages" of a configuration. */
export const PYTHON_AND_RUBY = [
  `    python: { image: "mahabharatha-python:bookworm", extension: .py, command: [python, -I, "{filepath}"] }`,
  `    ruby: { image: "mahabharatha-ruby:bookworm", extension: .rb, command: [ruby, "{filepath}"] }`,
].join('\n');
