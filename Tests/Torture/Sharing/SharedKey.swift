/// A key of the trial. Only one process writes it, but every process may read and invalidate it.
struct SharedKey: Hashable {
  static let slotCount = 12
  static let cacheNames = ["shared", "second"]

  /// The index of the name of its cache.
  let cache: Int
  let owner: Int
  let slot: Int

  /// All keys of all processes.
  static var all: [SharedKey] {
    cacheNames.indices.flatMap { cache in
      (0..<SharingProcess.count).flatMap { owner in
        (0..<slotCount).map { SharedKey(cache: cache, owner: owner, slot: $0) }
      }
    }
  }

  /// The key within its cache.
  var recordKey: String { "\(owner)/\(slot)" }
  /// The tags of every value of the key.
  var tags: [String] { ["owner:\(owner)", "class:\(slot % 4)"] }

  /// The key in the log.
  var text: String { "\(cache)/\(recordKey)" }

  init(cache: Int, owner: Int, slot: Int) {
    self.cache = cache
    self.owner = owner
    self.slot = slot
  }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    self.init(cache: parts[0], owner: parts[1], slot: parts[2])
  }
}
