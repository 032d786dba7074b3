/// Values that begin with their key, so that a reader finds out whether a value is that of another key.
enum KeyedValue {
  static func bytes(of key: String, size: Int) -> [UInt8] {
    Array("\(key):".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
  }

  /// Returns a finding if the value is that of another key.
  static func finding(_ value: [UInt8]?, of key: String) -> String? {
    guard let value, !value.starts(with: "\(key):".utf8) else { return nil }
    return "\(key) has another key's value"
  }
}
