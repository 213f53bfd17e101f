/** The completion script for zsh 5 and newer. */
import type { CommandNode } from "./completion-tree.ts";
import { wordFunctions } from "./completion-words.ts";

export const zshScript = (tree: readonly CommandNode[]): string => `#compdef gtm
# zsh completion of gtm, made by \`gtm completion zsh\`
${wordFunctions(tree)}
${DRIVER}
# Found in $fpath it is the function's body; read by hand it has to be made known.
if [[ "\${funcstack[1]}" == _gtm ]]; then _gtm "$@"; else compdef _gtm gtm; fi
`;

const DRIVER = `_gtm() {
  local current="\${words[CURRENT]}" path_="" server="" value word
  local -i args=0 at
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    value="$(_gtm_value "$path_:$word")"
    if [[ -n "$value" ]]; then
      if ((at + 1 == CURRENT)); then _gtm_reply "$value" "$server"; return; fi
      ((at++))
      [[ "$word" == --server ]] && server="\${words[at]}"
    elif [[ " $(_gtm_children "$path_") " == *" $word "* ]]; then
      path_="\${path_:+$path_ }$word"
    elif [[ "$word" != -* ]]; then
      ((args++))
    fi
  done
  if [[ "$current" == -* ]]; then _gtm_reply "words $(_gtm_options "$path_")" ""; return; fi
  value="$(_gtm_children "$path_")"
  if [[ -n "$value" ]]; then _gtm_reply "words $value" ""; return; fi
  _gtm_reply "$(_gtm_argument "$path_:$args")" "$server"
}
_gtm_reply() {
  local -a list
  case "$1" in
    words*) list=(\${=1#words }) ;;
    live*) list=(\${(f)"$(gtm completion values "\${1#live }" \${2:+--server} \${2:+"$2"} 2>/dev/null)"}) ;;
    file) _files; return ;;
    *) return 1 ;;
  esac
  compadd -a list
}`;
