import { Argument, Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { example } from '../options.ts';

export const completionCommand = (context: Context) =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(shells))
    .addHelpText('after', example('eval "$(gateway completion bash)"'))
    .action((shell) => void context.io.stdout.write(scripts[shell]));

export const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * Each script asks the program for completions of the word at the cursor, and never runs what was typed. The program answers
 * `:files` or `:folders` to let the shell complete paths. Sources: the manuals of bash (Programmable Completion), zsh
 * (zshcompsys) and fish (complete, commandline).
 */
export const scripts: Record<(typeof shells)[number], string> = {
  // Split at spaces, because bash's own words also end at =, : and @, which occur in model ids. Bash replaces what follows the last of
  // these, if COMP_WORDBREAKS has them. That of macOS reads nothing from <(…). Source: kislyuk/argcomplete#88, clap-rs/clap#6403.
  bash: `# Completion of gateway for bash. In ~/.bashrc: eval "$(gateway completion bash)"
_gateway() {
  local line=\${COMP_LINE:0:COMP_POINT} breaks=\${COMP_WORDBREAKS//[^=:@]/} current kept value meaning
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  [[ -z $breaks ]] || kept=\${current%"\${current##*[$breaks]}"}
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
  // Before compinit, there is no compdef: then it waits for the first prompt. Source: openclaw/openclaw#14289, angular/angular-cli#24430.
  zsh: `#compdef gateway
# Completion of gateway for zsh. In ~/.zshrc: eval "$(gateway completion zsh)"
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
_gateway_register() {
  add-zsh-hook -d precmd _gateway_register
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _gateway gateway
}
if [[ \${funcstack[1]} == _gateway ]]; then _gateway
elif (( $+functions[compdef] )); then compdef _gateway gateway
else autoload -Uz add-zsh-hook && add-zsh-hook precmd _gateway_register
fi
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
