// `import Cistern` is all that a program needs.
@_exported public import CisternCore
