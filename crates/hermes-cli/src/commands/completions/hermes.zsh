#compdef hermes hermes-sessions
# Completes the words of hermes, by asking hermes itself.
_hermes() {
    local -a values shown
    local words_found value what
    # It fails where a file is expected.
    words_found=$(@PROGRAM@ __complete --files -- "${(@Q)words[2,CURRENT]}" 2>/dev/null) || { _files; return; }
    while IFS=$'\t' read -r value what; do
        [[ -n $value ]] || continue
        values+=("$value")
        shown+=("$value${what:+  -- $what}")
    done <<< "$words_found"
    (( $#values )) && compadd -M "m:{[:lower:][:upper:]}={[:upper:][:lower:]}" -l -d shown -- "${values[@]}"
}
if [[ ${funcstack[1]-} == _hermes ]]; then
    _hermes "$@"
else
    compdef _hermes hermes hermes-sessions
fi
