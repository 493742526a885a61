/** Each asks the program what may follow; where it has nothing to say, the shell completes names of files. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_mahabharatha() {
  local IFS=$'\\n'
  COMPREPLY=($(mahabharatha completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _mahabharatha mahabharatha
`,
  zsh: `_mahabharatha() {
  local -a found
  found=("\${(@f)$(mahabharatha completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _mahabharatha mahabharatha
`,
  fish: `function __mahabharatha_words
  set -l line (commandline -opc) (commandline -ct)
  mahabharatha completion words -- $line[2..-1] 2>/dev/null
end
complete -c mahabharatha -f -n 'count (__mahabharatha_words) >/dev/null' -a '(__mahabharatha_words)'
complete -c mahabharatha -F -n 'not count (__mahabharatha_words) >/dev/null'
`,
};
