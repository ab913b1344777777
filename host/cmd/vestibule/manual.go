package main

import (
	"context"
	"fmt"
	"io"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", words: []string{"bash", "zsh", "fish"}, short: "print the script that completes command lines in a shell",
		long: "For bash: source <(vestibule completion bash). For zsh: the same, or the file _vestibule in a folder of $fpath. For\n" +
			"fish: the file vestibule.fish in ~/.config/fish/completions.",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			switch root := in.cmd.Root(); in.args[0] {
			case "bash":
				if err := root.GenBashCompletionV2(in.out, true); err != nil {
					return err
				}
				_, err := io.WriteString(in.out, plainBash)
				return err
			case "zsh":
				return root.GenZshCompletion(in.out)
			case "fish":
				return root.GenFishCompletion(in.out, true)
			}
			return &usageError{fmt.Sprintf("there is no completion for %q", in.args[0]), in.hint}
		},
	}
}

// plainBash finds the words of the command line where the package bash-completion is
// missing, as on macOS. Readline makes words of their own of "=" and ":".
const plainBash = `
declare -F _get_comp_words_by_ref > /dev/null || __vestibule_init_completion() {
	local i word joined=
	words=() COMPREPLY=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == [=:] ]]; then words[${#words[@]}-1]+=$word joined=1
		elif [[ $joined ]]; then words[${#words[@]}-1]+=$word joined=
		else words+=("$word"); fi
	done
	cword=$((${#words[@]} - 1))
	cur=${words[cword]} prev=${words[cword-1]}
}
`
