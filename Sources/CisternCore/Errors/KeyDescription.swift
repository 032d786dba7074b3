/// The description of a key in errors, reports and events. The end of a long one is left out.
struct KeyDescription: CustomStringConvertible {
  /// The maximum number of characters. Keys of usual programs are shorter, URLs included.
  static let longest = 400

  let description: String

  init<Key>(_ key: Key) {
    let text = "\(key)"
    let start = text.prefix(Self.longest)
    description = start.endIndex == text.endIndex ? text : "\(start)… (\(text.utf8.count) bytes)"
  }
}
