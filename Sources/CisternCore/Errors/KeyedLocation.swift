/// The location of a problem with one key, as errors and reports name it.
enum KeyedLocation {
  private static let separator = ", key "

  /// Returns the location of a key.
  ///
  /// - Parameters:
  ///   - place: The cache, or the operation.
  ///   - key: The key.
  /// - Returns: The text.
  static func text<Key>(_ place: String, _ key: Key) -> String { "\(place)\(separator)\(KeyDescription(key))" }

  /// Returns a location without its key and all that follows.
  static func withoutKey(_ location: String) -> String {
    location.firstRange(of: separator).map { String(location[..<$0.lowerBound]) } ?? location
  }
}

extension StoreReport {
  /// The location without a key, for logs.
  package var locationWithoutKey: String { KeyedLocation.withoutKey(location) }
}
