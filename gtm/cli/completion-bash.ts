/** The completion script for bash 4 and newer. */
import type { CommandNode } from "./completion-tree.ts";
import { wordFunctions } from "./completion-words.ts";

export const bashScript = (
  tree: readonly CommandNode[],
): string => `# bash completion of gtm, made by \`gtm completion bash\`
${wordFunctions(tree)}
${DRIVER}
complete -F _gtm gtm
`;

// A word is part of the path as long as it is a child of what stands before; a value of an option is no argument.
const DRIVER = `_gtm() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" server="" args=0 at word value
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    value="$(_gtm_value "$path:$word")"
    if [[ -n "$value" ]]; then
      if ((at + 1 == COMP_CWORD)); then _gtm_reply "$value" "$current" "$server"; return; fi
      at=$((at + 1))
      # bash takes http://x:1 apart at its colons.
      [[ "$word" == --server ]] && { server="\${COMP_WORDS[at]}"; while ((at + 1 < COMP_CWORD)) && [[ "\${COMP_WORDS[at + 1]}" == : || "\${COMP_WORDS[at]}" == : ]]; do at=$((at + 1)); server+="\${COMP_WORDS[at]}"; done; }
    elif [[ " $(_gtm_children "$path") " == *" $word "* ]]; then
      path="\${path:+$path }$word"
    elif [[ "$word" != -* ]]; then
      args=$((args + 1))
    fi
  done
  if [[ "$current" == -* ]]; then _gtm_reply "words $(_gtm_options "$path")" "$current" ""; return; fi
  value="$(_gtm_children "$path")"
  if [[ -n "$value" ]]; then _gtm_reply "words $value" "$current" ""; return; fi
  _gtm_reply "$(_gtm_argument "$path:$args")" "$current" "$server"
}
_gtm_reply() {
  local words
  case "$1" in
    words*) words="\${1#words }" ;;
    live*) words="$(gtm completion values "\${1#live }" \${3:+--server "$3"} 2>/dev/null)" ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2"); return ;;
    *) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}`;
