import type { Engine, VolumeInfo } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { volumesIn } from './answers.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { isTaken } from './complaints.ts';
import { hasLabels, labelArguments } from './labels.ts';

export function volumeCalls(cli: Cli): Pick<Engine, 'createVolume' | 'removeVolume' | 'listVolumes'> {
  const find = async (name: string): Promise<VolumeInfo | undefined> =>
    (await list(cli)).find((volume) => volume.name === name);
  return {
    createVolume: async (name, labels) => {
      const what = `create volume ${name}`;
      const answer = await cli.ask({ what, args: ['volume', 'create', ...labelArguments(labels), name] });
      if (answer.code === 0) return;
      if (!isTaken(answer.stderr)) throw refusal({ what }, answer, cli.place);
      const there = await find(name);
      if (there !== undefined && hasLabels(there.labels, labels)) return;
      const reason = 'there is a volume of that name with other labels';
      throw engineErrors.ENGINE_FAILED({ call: what, reason });
    },
    removeVolume: async (name) => {
      const what = `remove volume ${name}`;
      // Old versions take a part of a name for the name.
      if ((await find(name)) === undefined) return;
      const answer = await cli.ask({ what, args: ['volume', 'delete', name] });
      if (answer.code !== 0 && (await find(name)) !== undefined) throw refusal({ what }, answer, cli.place);
    },
    listVolumes: async (labels) => (await list(cli)).filter((volume) => hasLabels(volume.labels, labels)),
  };
}

async function list(cli: Cli): Promise<VolumeInfo[]> {
  const what = 'list volumes';
  return volumesIn(await cli.tell({ what, args: ['volume', 'list', '--format', 'json'] }), what);
}
