# Completes the words of hermes, by asking hermes itself.
_hermes() {
    local words value rest quote=${COMP_WORDS[COMP_CWORD]:0:1}
    COMPREPLY=()
    # It fails where a file is expected, which is what readline completes then.
    words=$(@PROGRAM@ __complete --quoted --files -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
    compopt +o default 2>/dev/null
    while IFS=$'\t' read -r value rest; do
        [[ -n $value ]] || continue
        # Inside quotes, readline inserts what stands between them. A shell reads some characters there as its own.
        case $quote in
            \') value=${value//\'/\'\\\'\'} ;;
            \") value=$(printf '%s' "$value" | sed 's/[\\"$`]/\\&/g') ;;
            *) value=$(printf '%q' "$value") ;;
        esac
        COMPREPLY+=("$value")
    done <<< "$words"
}
complete -o default -F _hermes hermes hermes-sessions
