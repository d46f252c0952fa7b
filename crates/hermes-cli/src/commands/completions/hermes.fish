# Completes the words of hermes, by asking hermes itself.
function __hermes_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    @PROGRAM@ __complete -- $words[2..-1] "$word" 2>/dev/null
end
for name in hermes hermes-sessions
    complete -c $name -f -n 'count (__hermes_complete) >/dev/null' -a '(__hermes_complete)'
end
