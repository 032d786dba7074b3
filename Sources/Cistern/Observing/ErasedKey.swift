/// A key whose type is forgotten, and its hash, computed once. Compared only with keys of the same type: each registry
/// has its own.
struct ErasedKey: Hashable, Sendable {
  private let box: any KeyHolding
  private let hash: Int

  init<Key: Hashable & Sendable>(_ key: Key) {
    box = KeyBox(key)
    hash = key.hashValue
  }

  /// The key. Its type must be that which it was made with.
  func key<Key: Hashable & Sendable>(of type: Key.Type = Key.self) -> Key {
    // A registry has keys of one type.
    unsafe unsafeDowncast(box, to: KeyBox<Key>.self).key
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(hash)
  }

  static func == (left: ErasedKey, right: ErasedKey) -> Bool {
    left.hash == right.hash && (left.box === right.box || left.box.holdsSameKey(as: right.box))
  }
}

private protocol KeyHolding: AnyObject, Sendable {
  func holdsSameKey(as other: any KeyHolding) -> Bool
}

private final class KeyBox<Key: Hashable & Sendable>: KeyHolding {
  let key: Key

  init(_ key: Key) {
    self.key = key
  }

  func holdsSameKey(as other: any KeyHolding) -> Bool {
    // A registry has keys of one type.
    unsafe key == unsafeDowncast(other, to: KeyBox<Key>.self).key
  }
}
