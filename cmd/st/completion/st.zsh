#compdef st
# zsh completion of st: source <(st completion zsh), behind compinit; or as a file _st in a folder of $fpath
_st() {
	local line word
	local -a names shown
	for line in "${(@f)$(command st complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] || continue
		word=${line%%$'\t'*}
		case $word in
		:files) _files; return ;;
		:dirs) _files -/; return ;;
		esac
		names+=("$word")
		shown+=("${line/$'\t'/  }")
	done
	(( $#names )) && compadd -l -d shown -a names
}
if [[ ${funcstack[1]} == _st ]]; then _st "$@"; else compdef _st st; fi
