/// An error of the library that can contain keys, which are the user's data.
package protocol KeyedError: Error {
  /// The error without its keys and those of its causes, for logs and traces. It has the same type.
  var withoutKey: any Error { get }
}

extension CisternError: KeyedError {
  package var withoutKey: any Error {
    CisternError(
      code, message, location: KeyedLocation.withoutKey(location), cause: cause?.withoutKeys, remedy: remedy)
  }
}

extension Error {
  /// The error without keys if it is one of the library. Another error stays as it is.
  package var withoutKeys: any Error { (self as? any KeyedError)?.withoutKey ?? self }
}
