extension CisternError {
  /// Returns the error for a write of a key that does not equal itself. Such a key cannot be found among others.
  @usableFromInline
  static func unequalKey<Key>(_ key: Key, in place: String) -> CisternError {
    CisternError(
      .invalidArgument,
      "the key does not equal itself, for example because it contains NaN, so nothing was stored. Use another key",
      location: KeyedLocation.text(place, key))
  }
}
