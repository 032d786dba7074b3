import Locking
import Synchronization

/// The enumerations in progress, and the keys whose records the second tier may have lost since each began.
///
/// An enumeration finds a key in memory, or in the second tier. A key can be promoted, and then evicted from the second
/// tier. It is in neither part that the enumeration reads, so the enumeration visits it from here.
final class OpenWalks: Sendable {
  /// The keys that an enumeration must look up in memory.
  struct Losses: Sendable {
    fileprivate(set) var keys: [[UInt8]] = []
    /// The number of times that the list was given up, because any key in memory may have lost its record.
    fileprivate(set) var lossesOfAll = 0
  }

  /// The number of keys after which the list is given up.
  static let longestList = 4096

  private let losses = Guarded<(byWalk: [Int: Losses], newest: Int)>(([:], 0))
  private let count = Atomic<Int>(0)

  init() {}

  /// Whether no enumeration is in progress.
  var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Begins an enumeration, before it reads the keys in memory.
  func open() -> WalkToken {
    let identifier = losses.withLock { losses in
      losses.newest += 1
      losses.byWalk[losses.newest] = Losses()
      count.store(losses.byWalk.count, ordering: .sequentiallyConsistent)
      return losses.newest
    }
    return WalkToken(self, identifier)
  }

  fileprivate func close(_ identifier: Int) {
    losses.withLock { losses in
      losses.byWalk[identifier] = nil
      count.store(losses.byWalk.count, ordering: .sequentiallyConsistent)
    }
  }

  fileprivate func losses(of identifier: Int) -> Losses { losses.withLock { $0.byWalk[identifier] ?? Losses() } }

  /// Notes a key whose record the second tier may have lost, and that memory or unconfirmed edits may have. Called
  /// before the loss is acknowledged.
  func noteLoss(of key: [UInt8]) {
    if isEmpty { return }
    losses.withLock { losses in
      for identifier in losses.byWalk.keys { losses.byWalk[identifier]?.add(key) }
    }
  }

  /// Notes that the second tier loses all records. Called before a read can see that.
  func noteLossOfAll() {
    if isEmpty { return }
    losses.withLock { losses in
      for identifier in losses.byWalk.keys { losses.byWalk[identifier]?.giveUpList() }
    }
  }
}

extension OpenWalks.Losses {
  fileprivate mutating func add(_ key: [UInt8]) {
    if keys.count < OpenWalks.longestList { keys.append(key) } else { giveUpList() }
  }

  fileprivate mutating func giveUpList() {
    keys = []
    lossesOfAll += 1
  }
}

/// The membership of an enumeration, until the last copy of the enumeration is released.
final class WalkToken: Sendable {
  private let walks: OpenWalks
  private let identifier: Int

  fileprivate init(_ walks: OpenWalks, _ identifier: Int) {
    self.walks = walks
    self.identifier = identifier
  }

  deinit { walks.close(identifier) }

  var losses: OpenWalks.Losses { walks.losses(of: identifier) }
}
