# Completes the words of hermes, by asking hermes itself.
_hermes() {
    local value rest
    COMPREPLY=()
    while IFS=$'\t' read -r value rest; do
        COMPREPLY+=("$(printf '%q' "$value")")
    done < <(@PROGRAM@ __complete --quoted -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _hermes hermes hermes-sessions
