import Foundation
import Locking
import Synchronization
import Testing

/// A lock that readers share until a writer needs it exclusively.
struct ReaderBiasedLockThreadsTests {
  /// A lock, its readers, and two equal numbers that it guards. Sendable: the numbers are accessed only in the lock's
  /// sections.
  private final class Pair: @unchecked Sendable {
    private let lock = ReaderBiasedLock()
    let readers: VisibleReaders
    /// Whether a writer has changed the numbers.
    private let isChanged = Atomic(false)
    private let sharedReadCount = Atomic(0)
    private var left = 0
    private var right = 0

    init(places: Int = 4) {
      readers = VisibleReaders(count: places)
    }

    func change() {
      lock.withLock(number: 1, readers: readers) {
        left += 1
        right += 1
        isChanged.store(true, ordering: .relaxed)
      }
    }

    /// Compares the numbers while holding the lock. Enough such reads in a row bias the lock to readers.
    func readAlone(mayShare: Bool = true) -> Bool {
      lock.withLockToRead(number: 1, readers: readers, mayShare: mayShare) { _ in left == right }
    }

    /// Enters the section as a read does, and reports a change.
    func readAndChange() {
      lock.withLockToRead(number: 1, readers: readers, mayShare: true) { access in
        access = .change
        left += 1
        right += 1
      }
    }

    /// Returns whether the numbers are equal, or nil if the section could not be shared.
    func readShared() -> Bool? {
      guard let place = enter() else { return nil }
      defer { leave(place) }
      readers.count(place)
      sharedReadCount.add(1, ordering: .relaxed)
      return left == right
    }

    /// Enters the section as a reader, if possible.
    func enter() -> Int? { lock.beginSharing(number: 1, readers: readers) }

    func leave(_ place: Int) { lock.endSharing(place, readers: readers) }

    func bias() {
      for _ in 0..<ReaderBiasedLock.readsToBias { _ = readAlone() }
    }

    var isShared: Bool { lock.isSharable }
    var total: Int { readers.totals.inside }
    var hasChanged: Bool { isChanged.load(ordering: .relaxed) }
    var sharedReads: Int { sharedReadCount.load(ordering: .relaxed) }
    var sum: Int { lock.withLock(number: 1, readers: readers) { left + right } }
  }

  @Test func `consecutive reads bias the lock to readers, and a write ends the bias`() {
    let pair = Pair()
    for _ in 0..<ReaderBiasedLock.readsToBias {
      #expect(!pair.isShared)
      _ = pair.readAlone()
    }
    #expect(pair.isShared && pair.readShared() == true)
    pair.change()
    #expect(!pair.isShared && pair.readShared() == nil)
  }

  @Test func `a write between reads restarts their count`() {
    let pair = Pair()
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    pair.change()
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    #expect(!pair.isShared)
  }

  @Test func `a read that reports a change restarts their count and never biases the lock`() {
    let pair = Pair()
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    for _ in 0..<1000 { pair.readAndChange() }
    #expect(!pair.isShared)
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    #expect(!pair.isShared)
    _ = pair.readAlone()
    #expect(pair.isShared)
  }

  @Test func `a lock is never biased if its reads may not share it`() {
    let pair = Pair()
    for _ in 0..<1000 { _ = pair.readAlone(mayShare: false) }
    #expect(!pair.isShared)
  }

  @Test func `a reader that finds no bias releases its place`() {
    let pair = Pair()
    #expect(pair.readShared() == nil)
    pair.bias()
    #expect(pair.readShared() == true)
  }

  @Test func `a place belongs to one reader at a time, across all locks that share the places`() throws {
    let pair = Pair(places: 1)
    let other = ReaderBiasedLock()
    pair.bias()
    let place = try #require(pair.enter())
    #expect(pair.readShared() == nil)
    // A writer waits only for readers of the same lock.
    other.withLock(number: 2, readers: pair.readers) {}
    pair.leave(place)
    #expect(pair.readShared() == true)
  }

  @Test func `a thread whose place is taken reads in another place`() throws {
    let pair = Pair(places: 2)
    pair.bias()
    let places = [try #require(pair.enter()), try #require(pair.enter())]
    #expect(Set(places) == [0, 1] && pair.enter() == nil)
    for place in places { pair.leave(place) }
  }

  @Test func `a writer waits for a reader inside the section`() async throws {
    let pair = Pair()
    pair.bias()
    let place = try #require(pair.enter())
    async let change: Void = onThread { pair.change() }
    while pair.isShared { await Task.yield() }
    // The other thread holds the mutex from here on.
    for _ in 0..<1000 { await Task.yield() }
    #expect(!pair.hasChanged)
    pair.leave(place)
    await change
    #expect(pair.hasChanged)
  }

  @Test func `readers see consistent numbers during changes, and shared reads are counted`() async {
    let pair = Pair()
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          await onThread {
            var torn = 0
            for round in 0..<20_000 {
              if (round + thread) % 16 == 0 {
                pair.change()
              } else if !(pair.readShared() ?? pair.readAlone()) {
                torn += 1
              }
            }
            #expect(torn == 0)
          }
        }
      }
    }
    #expect(pair.sum == 2 * 4 * 20_000 / 16)
    #expect(pair.sharedReads == pair.total)
  }
}

/// Runs `body` on a new thread.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    do {
      try SystemThread.start {
        body()
        continuation.resume()
      }
    } catch {
      Issue.record(error)
      continuation.resume()
    }
  }
}
