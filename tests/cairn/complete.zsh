# SPDX-License-Identifier: MIT
# What an interactive zsh makes of each LINE, with the cursor at its end, by the completion in FILE (_cairn).
#
#     zsh -f complete.zsh FILE LINE...
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=(${(q)1:h} \$fpath); autoload -U compinit; compinit -D -u; setopt no_beep no_auto_list"
zpty -w shell 'told() { zle complete-word; print -rn -- "<<$BUFFER>>"; BUFFER=; }; zle -N told; bindkey "^I" told'
zpty -w shell 'print it is:there'
zpty -r shell seen '*it is:there*it is:there*' # as it is typed, and as it is printed
shift
for line; do
    zpty -w -n shell "$line"$'\t'
    zpty -r shell seen '*<<*>>*'
    print -r -- "${${seen##*<<}%%>>*}"
done
zpty -d shell
