# fish completion of st: st completion fish | source
function __st_complete
	set -l words (commandline -opc) (commandline -ct)
	for line in (command st complete $words[2..-1] 2>/dev/null)
		switch $line
			case ':files'
				__fish_complete_path (commandline -ct)
			case ':dirs'
				__fish_complete_directories (commandline -ct)
			case '*'
				echo $line
		end
	end
end
complete -c st -f -a '(__st_complete)'
