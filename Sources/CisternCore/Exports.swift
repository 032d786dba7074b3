// A merge throws `UnusableCachedValue`, which JSONMergePatch declares.
@_exported public import JSONMergePatch
