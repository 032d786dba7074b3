/// A key with an erased type, and its precomputed hash. A key is compared only with keys of the same registry,
/// which have the same type.
struct ErasedKey: Hashable, Sendable {
  private let box: any KeyHolding
  private let hash: Int

  init<Key: Hashable & Sendable>(_ key: Key) {
    box = KeyBox(key)
    hash = key.hashValue
  }

  /// Returns the key. The type must be that of the initializer's argument.
  func key<Key: Hashable & Sendable>(of type: Key.Type = Key.self) -> Key {
    // Safe because all keys of a registry have one type.
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
    // Safe because all keys of a registry have one type.
    unsafe key == unsafeDowncast(other, to: KeyBox<Key>.self).key
  }
}
