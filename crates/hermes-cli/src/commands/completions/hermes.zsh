#compdef hermes hermes-sessions
# Completes the words of hermes, by asking hermes itself.
_hermes() {
    local -a values shown
    local value what
    while IFS=$'\t' read -r value what; do
        values+=("$value")
        shown+=("$value${what:+  -- $what}")
    done < <(@PROGRAM@ __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    if (( $#values )); then
        compadd -l -d shown -- "${values[@]}"
    else
        _files
    fi
}
if [[ ${funcstack[1]-} == _hermes ]]; then
    _hermes "$@"
else
    compdef _hermes hermes hermes-sessions
fi
