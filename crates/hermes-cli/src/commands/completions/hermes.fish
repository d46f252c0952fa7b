# Completes the words of hermes, by asking hermes itself. It fails where a file is expected.
function __hermes_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    @PROGRAM@ __complete --files -- $words[2..-1] "$word" 2>/dev/null
end
for name in hermes hermes-sessions
    complete -c $name -f -n '__hermes_complete >/dev/null' -a '(__hermes_complete)'
end
