extension CisternError {
  /// Returns the error for an operation of a closed store.
  ///
  /// - Parameters:
  ///   - location: The operation, and the path, cache or key that it concerned.
  ///   - effect: The effect of the operation nevertheless; nil for none.
  /// - Returns: The error.
  package static func storeClosed(_ location: String, effect: String? = nil) -> CisternError {
    CisternError(.storeClosed, "the store is closed" + (effect.map { "; \($0)" } ?? ""), location: location)
  }
}
