# Prints a row for each public declaration of a header of mote: its name, the first sentence of its comment, the header.
# Read are lines outside of braces, but for namespaces. Left out are namespace detail, operators, and what is
# declared only to give a sentence.
#   awk -v file=engine/ops/view.h -f tests/index.awk engine/ops/view.h

function first_sentence(text,    at) {
  gsub(/[ \t]+/, " ", text)
  sub(/^ /, "", text)
  gsub(/\.\.\./, "\342\200\246", text)
  at = match(text, /[.:;]( |$)/)
  if (at) text = substr(text, 1, at - 1)
  gsub(/\|/, "\\|", text)
  gsub(/</, "\\&lt;", text)
  return text
}
function row(name) {
  if (name == "" || name == "words" || (name in seen)) return
  seen[name] = 1
  print inner name "\t" first_sentence(said) "\t" file
}
# The declaration that has been read, up to its brace or semicolon.
function declared(text,    name) {
  if (text ~ /unavailable|= delete|^ *(friend|#|using namespace|extern template|MOTE_)/) return
  gsub(/__attribute__ *\(\([^)]*\)\)/, "", text)
  if (text ~ /^ *template/) sub(/^ *template *<[^>]*>( *requires.*\)\)? )?/, "", text)
  if (match(text, /^ *(struct|class|enum class|enum|concept) +[A-Za-z_0-9]+/)) {
    name = substr(text, RSTART, RLENGTH)
    sub(/^.* /, "", name)
    if (text ~ /;$/ && text !~ /enum/ && text !~ /concept/) return # declared elsewhere
    row(name)
    return
  }
  if (match(text, /using +[A-Za-z_0-9]+ *=/)) {
    name = substr(text, RSTART + 6, RLENGTH - 7)
    gsub(/ /, "", name)
    row(name)
    return
  }
  if (text ~ /operator/) return
  if (match(text, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
    name = substr(text, RSTART, RLENGTH - 1)
    if (name ~ /^(if|for|while|requires|decltype|static_assert|alignas|noexcept|constexpr|main)$/) return
    if (substr(text, 1, RSTART - 1) !~ /[A-Za-z_>&*] *[&*]? *$/) return
    row(name)
    return
  }
  if (match(text, /constexpr.* [A-Za-z_0-9]+ *(=|\{)/)) {
    name = substr(text, RSTART, RLENGTH - 1)
    sub(/ *$/, "", name)
    sub(/^.*[ *&]/, "", name)
    row(name)
  }
}
{
  line = $0
  if (line ~ /^\/\/\/ /) {
    if (!doc) said = ""
    said = said " " substr(line, 5)
    doc = 1
    next
  }
  if (line ~ /^ *\/\//) next
  sub(/ *\/\/.*$/, "", line)
  if (line ~ /^ *$/) {
    if (!doc) said = ""
    doc = 0
    next
  }
  if (line ~ /^ *#/) next
  if (line ~ /^namespace [a-z:]*detail/) hidden = 1
  if (line ~ /^namespace .*\{$/) {
    if (line !~ /mote|detail/) { # a namespace inside mote, whose name stands before those of its functions
      inner = line
      sub(/^namespace /, "", inner)
      sub(/ *\{$/, "::", inner)
    }
    next
  }
  if (line ~ /^\}  *\/\/|^\}$/ && depth == 0) { hidden = 0; inner = ""; next }
  if (depth == 0 && !hidden) {
    text = text " " line
    if (line ~ /[;{}]/) {
      sub(/^ */, "", text)
      declared(text)
      text = ""
      doc = 0
    }
  }
  opened = gsub(/\{/, "{", line)
  closed = gsub(/\}/, "}", line)
  depth += opened - closed
  if (depth < 0) { depth = 0; hidden = 0 }
}
