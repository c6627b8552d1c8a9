import { Argument, Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { example } from '../options.ts';

export const completionCommand = (context: Context) =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(shells))
    .addHelpText('after', example('source <(gateway completion bash)'))
    .action((shell) => void context.io.stdout.write(scripts[shell]));

export const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * Each script asks the program for completions of the word at the cursor, and never runs what was typed. The program answers
 * `:files` or `:folders` to let the shell complete paths. Sources: the manuals of bash (Programmable Completion), zsh
 * (zshcompsys) and fish (complete, commandline).
 */
export const scripts: Record<(typeof shells)[number], string> = {
  // Split at spaces, because bash's own words also end at = and :, which occur in model ids. Bash replaces what follows the last of these.
  bash: `# Completion of gateway for bash. In ~/.bashrc: source <(gateway completion bash)
_gateway() {
  local line=\${COMP_LINE:0:COMP_POINT} current kept value meaning
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  kept=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r value meaning; do
    case $value in
      :files) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${current#"$kept"}")) ;;
      :folders) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "\${current#"$kept"}")) ;;
      *) COMPREPLY+=("\${value#"$kept"}") ;;
    esac
  done < <(gateway completion bash -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _gateway gateway
`,
  zsh: `#compdef gateway
# Completion of gateway for zsh. In ~/.zshrc, after compinit: source <(gateway completion zsh)
_gateway() {
  local line meaning
  local -a found
  for line in "\${(@f)$(gateway completion zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files*) compset -P '--*='; _files; return ;;
      :folders*) compset -P '--*='; _files -/; return ;;
      *) meaning=\${line#*$'\\t'}; found+=("\${\${line%%$'\\t'*}//:/\\:}\${meaning:+:$meaning}") ;;
    esac
  done
  _describe 'gateway' found
}
if [[ \${funcstack[1]} == _gateway ]]; then _gateway; else compdef _gateway gateway; fi
`,
  fish: `# Completion of gateway for fish. In config.fish: gateway completion fish | source
function __gateway_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (gateway completion fish -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':folders*'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c gateway -f -a '(__gateway_complete)'
`,
};
