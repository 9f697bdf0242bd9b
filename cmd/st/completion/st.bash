# bash completion of st: eval "$(st completion bash)"
_st() {
	local cur line word
	local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	cur=${COMP_WORDS[COMP_CWORD]}
	# bash cuts words at = and :, and completes only what stands behind the last cut.
	if [[ ${#words[@]} -ge 2 && $cur == "=" ]]; then
		words=("${words[@]:0:${#words[@]}-1}" "")
		cur=
	elif [[ ${#words[@]} -ge 3 && ${words[-2]} == "=" ]]; then
		words=("${words[@]:0:${#words[@]}-2}" "$cur")
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		word=${line%%$'\t'*}
		case $word in
		:files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
		:dirs) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
		*) COMPREPLY+=("$(printf '%q' "$word")") ;;
		esac
	done < <(command st complete "${words[@]}" 2>/dev/null)
}
complete -F _st st
