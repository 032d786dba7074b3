/// An operation of a process that shares a directory with others, in the form of its log.
enum SharedOperation: Equatable {
  case set(key: SharedKey)
  case remove(key: SharedKey)
  case batch(keys: [SharedKey])
  case removeTagged(String)
  case removePrefixed(String)
  case removeAll
  /// A load that fetches if no tier has the key.
  case load(key: SharedKey)
  case read(key: SharedKey)

  /// The keys that this operation writes. A load writes its key only if it fetched.
  var writtenKeys: [SharedKey] {
    switch self {
    case .set(let key), .load(let key): [key]
    case .batch(let keys): keys
    case .remove, .removeTagged, .removePrefixed, .removeAll, .read: []
    }
  }

  /// Returns whether the operation removes the value of a key.
  func removes(_ key: SharedKey) -> Bool {
    switch self {
    case .remove(let removed): removed == key
    case .removeTagged(let tag): key.tags.contains(tag)
    case .removePrefixed(let prefix): key.text.hasPrefix(prefix)
    case .removeAll: true
    case .set, .batch, .load, .read: false
    }
  }
}

/// A key of the trial. Only one process writes it, but every process may read and invalidate it.
struct SharedKey: Hashable {
  static let slotCount = 12

  let owner: Int
  let slot: Int

  var text: String { "\(owner)/\(slot)" }
  /// The tags of every value of the key.
  var tags: [String] { ["owner:\(owner)", "class:\(slot % 4)"] }
}

// MARK: Text

extension SharedKey {
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/").compactMap { Int($0) }
    guard parts.count == 2 else { return nil }
    self.init(owner: parts[0], slot: parts[1])
  }
}

extension SharedOperation {
  /// One line without its terminator.
  var text: String {
    switch self {
    case .set(let key): "set \(key.text)"
    case .remove(let key): "remove \(key.text)"
    case .batch(let keys): "batch " + keys.map(\.text).joined(separator: " ")
    case .removeTagged(let tag): "tag \(tag)"
    case .removePrefixed(let prefix): "prefix \(prefix)"
    case .removeAll: "all"
    case .load(let key): "load \(key.text)"
    case .read(let key): "read \(key.text)"
    }
  }

  init?(_ words: some Collection<Substring>) {
    let keys = words.dropFirst().compactMap { SharedKey($0) }
    switch (words.first, keys.first, words.dropFirst().first) {
    case ("set"?, let key?, _): self = .set(key: key)
    case ("remove"?, let key?, _): self = .remove(key: key)
    case ("batch"?, .some, _): self = .batch(keys: keys)
    case ("tag"?, _, let tag?): self = .removeTagged(String(tag))
    case ("prefix"?, _, let prefix?): self = .removePrefixed(String(prefix))
    case ("all"?, _, _): self = .removeAll
    case ("load"?, let key?, _): self = .load(key: key)
    case ("read"?, let key?, _): self = .read(key: key)
    default: return nil
    }
  }
}

/// The operation that wrote a value: the process, the number of its restarts, and the number of the operation.
struct SharedAuthor: Hashable {
  let process: Int
  let generation: Int
  let number: Int

  var text: String { "\(process).\(generation).\(number)" }

  init(process: Int, generation: Int, number: Int) {
    self.process = process
    self.generation = generation
    self.number = number
  }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    self.init(process: parts[0], generation: parts[1], number: parts[2])
  }

  /// Returns the value that this operation writes to a key. Sizes vary, so that some records need their own pages.
  func value(of key: SharedKey) -> [UInt8] {
    let size = (number &* 2_654_435_761 &+ key.slot) % 7 == 0 ? 6_000 : 40 + number % 500
    let head = Array("\(text):\(key.text):".utf8)
    return head + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
  }

  /// Finds the operation that wrote these bytes to a key. Returns nil if no operation did.
  init?(of value: [UInt8], key: SharedKey) {
    let head = value.prefix(40).split(separator: UInt8(ascii: ":"), maxSplits: 1)
    guard let first = head.first, let author = SharedAuthor(String(decoding: first, as: UTF8.self)),
      author.value(of: key) == value
    else { return nil }
    self = author
  }
}
