/// The description of a key in errors, reports and events. The end of a long one is left out.
struct KeyDescription: CustomStringConvertible {
  /// The maximum number of characters. Keys of usual programs are shorter, URLs included.
  static let longest = 400

  let description: String

  init<Key>(_ key: Key) {
    let text = "\(key)"
    // In most texts, a character has one byte. The number of bytes is known without a walk.
    guard text.utf8.count > Self.longest else {
      description = text
      return
    }
    description = "\(text.prefix(Self.longest))… (\(text.utf8.count) bytes)"
  }
}
