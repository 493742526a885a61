import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { python } from '@codemirror/lang-python';
import { bracketMatching, defaultHighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { Compartment, EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';

const HELLO: Readonly<Record<string, string>> = {
  python: 'print("Hello, world!")\n',
  ruby: 'puts "Hello, world!"\n',
  javascript: 'console.log("Hello, world!");\n',
};
const OTHER = 'echo "Hello, world!"\n';

export interface Editor {
  code(): string;
  /** Another language, with a program to begin with unless one was written. */
  use(language: string): void;
}

export function createEditor(place: HTMLElement, nonce: string, run: () => void): Editor {
  const language = new Compartment();
  let begun = '';
  const runKey = { key: 'Mod-Enter', run: () => (run(), true) };
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ 'aria-label': 'program' }),
        lineNumbers(),
        history(),
        bracketMatching(),
        syntaxHighlighting(defaultHighlightStyle),
        keymap.of([runKey, indentWithTab, ...defaultKeymap, ...historyKeymap]),
        language.of([]),
      ],
    }),
  });
  const code = (): string => view.state.doc.toString();
  return {
    code,
    use: (name) => {
      const hello = HELLO[name] ?? OTHER;
      const changes = code() === begun ? { from: 0, to: view.state.doc.length, insert: hello } : [];
      if (code() === begun) begun = hello;
      view.dispatch({ changes, effects: language.reconfigure(modeOf(name)) });
    },
  };
}

function modeOf(name: string): Extension {
  if (name === 'python') return python();
  if (/^(java|type)script|^node/.test(name)) return javascript({ typescript: true });
  return StreamLanguage.define(name === 'ruby' ? ruby : shell);
}
