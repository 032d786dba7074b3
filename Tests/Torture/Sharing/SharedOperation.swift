/// An operation of a process that shares a directory with others, in the form of its log.
enum SharedOperation: Equatable {
  case set(key: SharedKey)
  case remove(key: SharedKey)
  /// A batch over the caches of its keys.
  case batch(keys: [SharedKey])
  case removeTagged(String, from: SharedScope)
  case removePrefixed(String, from: Int)
  case removeAll(from: Int)
  /// A load that fetches if no tier has the key.
  case load(key: SharedKey)
  /// A load whose fetch keeps the stored value with a new lifetime, or stores one if none exists.
  case keep(key: SharedKey)
  case read(key: SharedKey)

  /// The keys that this operation writes. A load writes its key only if it stored the result of its fetch.
  var writtenKeys: [SharedKey] {
    switch self {
    case .set(let key), .load(let key), .keep(let key): [key]
    case .batch(let keys): keys
    case .remove, .removeTagged, .removePrefixed, .removeAll, .read: []
    }
  }

  /// The key of a load that can fetch.
  var loadedKey: SharedKey? {
    switch self {
    case .load(let key), .keep(let key): key
    case .set, .remove, .batch, .removeTagged, .removePrefixed, .removeAll, .read: nil
    }
  }

  /// Returns whether the operation removes the value of a key.
  func removes(_ key: SharedKey) -> Bool {
    switch self {
    case .remove(let removed): removed == key
    case .removeTagged(let tag, let scope): scope.contains(key) && key.tags.contains(tag)
    case .removePrefixed(let prefix, let cache): key.cache == cache && key.recordKey.hasPrefix(prefix)
    case .removeAll(let cache): key.cache == cache
    case .set, .batch, .load, .keep, .read: false
    }
  }
}

/// The caches that an invalidation concerns.
enum SharedScope: Equatable {
  case cache(Int)
  case store

  func contains(_ key: SharedKey) -> Bool {
    switch self {
    case .cache(let cache): key.cache == cache
    case .store: true
    }
  }
}

// MARK: Text

extension SharedScope {
  var text: String {
    switch self {
    case .cache(let cache): "\(cache)"
    case .store: "store"
    }
  }

  init?(_ text: some StringProtocol) {
    if text == "store" {
      self = .store
    } else if let cache = Int(text) {
      self = .cache(cache)
    } else {
      return nil
    }
  }
}

extension SharedOperation {
  /// One line without its terminator.
  var text: String {
    switch self {
    case .set(let key): "set \(key.text)"
    case .remove(let key): "remove \(key.text)"
    case .batch(let keys): "batch " + keys.map(\.text).joined(separator: " ")
    case .removeTagged(let tag, let scope): "tag \(tag) \(scope.text)"
    case .removePrefixed(let prefix, let cache): "prefix \(prefix) \(cache)"
    case .removeAll(let cache): "all \(cache)"
    case .load(let key): "load \(key.text)"
    case .keep(let key): "keep \(key.text)"
    case .read(let key): "read \(key.text)"
    }
  }

  init?(_ words: some Collection<Substring>) {
    let words = Array(words)
    guard words.count >= 2 else { return nil }
    let keys = words.dropFirst().compactMap { SharedKey($0) }
    switch (words[0], keys.first, words.last.flatMap { SharedScope($0) }) {
    case ("set", let key?, _): self = .set(key: key)
    case ("remove", let key?, _): self = .remove(key: key)
    case ("batch", .some, _): self = .batch(keys: keys)
    case ("tag", _, let scope?): self = .removeTagged(String(words[1]), from: scope)
    case ("prefix", _, .cache(let cache)?): self = .removePrefixed(String(words[1]), from: cache)
    case ("all", _, .cache(let cache)?): self = .removeAll(from: cache)
    case ("load", let key?, _): self = .load(key: key)
    case ("keep", let key?, _): self = .keep(key: key)
    case ("read", let key?, _): self = .read(key: key)
    default: return nil
    }
  }
}
