import Foundation
import Locking
import Synchronization
import Testing

@testable import Cistern

/// The lock that readers share while nobody wants it alone.
struct ReaderBiasedLockThreadsTests {
  /// A lock, its readers, and two numbers behind it that are always the same. Sendable holds because the numbers are
  /// reached in the lock's sections only.
  private final class Pair: @unchecked Sendable {
    private let lock = ReaderBiasedLock()
    let readers: VisibleReaders
    /// Whether somebody has changed the numbers.
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

    /// With the lock; enough of it in a row has it biased to readers.
    func readAlone(mayShare: Bool = true) -> Bool {
      lock.withLockToRead(number: 1, readers: readers, mayShare: mayShare) { left == right }
    }

    /// Whether both are the same, if the section could be shared.
    func readShared() -> Bool? {
      guard let place = enter() else { return nil }
      defer { leave(place) }
      readers.count(place)
      sharedReadCount.add(1, ordering: .relaxed)
      return left == right
    }

    /// Enters the section as a reader, if that is possible.
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

  @Test func `reads in a row bias it to readers, and whoever wants it alone ends that`() {
    let pair = Pair()
    for _ in 0..<ReaderBiasedLock.readsToBias {
      #expect(!pair.isShared)
      _ = pair.readAlone()
    }
    #expect(pair.isShared && pair.readShared() == true)
    pair.change()
    #expect(!pair.isShared && pair.readShared() == nil)
  }

  @Test func `a write between them makes reads count anew`() {
    let pair = Pair()
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    pair.change()
    for _ in 1..<ReaderBiasedLock.readsToBias { _ = pair.readAlone() }
    #expect(!pair.isShared)
  }

  @Test func `it is never biased where reads may not share it`() {
    let pair = Pair()
    for _ in 0..<1000 { _ = pair.readAlone(mayShare: false) }
    #expect(!pair.isShared)
  }

  @Test func `who finds the bias at its end leaves the place again`() {
    let pair = Pair()
    #expect(pair.readShared() == nil)
    pair.bias()
    #expect(pair.readShared() == true)
  }

  @Test func `a place is one reader's at a time, of all locks that share the places`() throws {
    let pair = Pair(places: 1)
    let other = ReaderBiasedLock()
    pair.bias()
    let place = try #require(pair.enter())
    #expect(pair.readShared() == nil)
    // Only the readers of its own section are waited for.
    other.withLock(number: 2, readers: pair.readers) {}
    pair.leave(place)
    #expect(pair.readShared() == true)
  }

  @Test func `where a thread's place is taken it reads in another`() throws {
    let pair = Pair(places: 2)
    pair.bias()
    let places = [try #require(pair.enter()), try #require(pair.enter())]
    #expect(Set(places) == [0, 1] && pair.enter() == nil)
    for place in places { pair.leave(place) }
  }

  @Test func `who wants it alone waits for a reader that is on its way`() async throws {
    let pair = Pair()
    pair.bias()
    let place = try #require(pair.enter())
    async let change: Void = onThread { pair.change() }
    while pair.isShared { await Task.yield() }
    // From here on the other thread has the mutex.
    for _ in 0..<1000 { await Task.yield() }
    #expect(!pair.hasChanged)
    pair.leave(place)
    await change
    #expect(pair.hasChanged)
  }

  @Test func `what readers see is whole, whoever changes it, and what they count is there in the end`() async {
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

/// Runs `body` on a thread of its own.
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
