import CisternTestSupport
import CisternTesting
import Dispatch
import Locking
import Testing

@testable import CisternCore

/// Fetches whose result meets an unconfirmed edit that ends at the same instant.
struct EndedEditThreadsTests {
  /// A key whose first copy can run a closure when it is released.
  struct Key: Hashable, Sendable {
    let name: String
    private let release: Release?

    init(_ name: String, whenReleased: (@Sendable () -> Void)? = nil) {
      self.name = name
      release = whenReleased.map { Release(body: $0) }
    }

    static func == (one: Key, other: Key) -> Bool { one.name == other.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    private final class Release: Sendable {
      let body: @Sendable () -> Void

      init(body: @escaping @Sendable () -> Void) { self.body = body }

      deinit { body() }
    }
  }

  /// An executor of observers. It runs a closure on the thread that delivers a change.
  private final class DeliveryExecutor: TaskExecutor {
    private let whenDelivering = Guarded<(@Sendable () -> Void)?>(nil)

    /// Sets the closure that runs once, at the next delivery.
    func atNextDelivery(_ body: @escaping @Sendable () -> Void) { whenDelivering.withLock { $0 = body } }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let body = whenDelivering.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
      do {
        // The executor lives as long as the job, because the task holds it.
        try SystemThread.start { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
      } catch {
        fatalError("a thread could not be started: \(error)")
      }
    }
  }

  /// The result of the fetch, and the value of the key after it.
  static let endings: [(outcome: FetchOutcome<Int>, last: Int?)] = [
    (.absent(), nil), (.returnAndRemove(2), nil), (.store(2), 2), (.store(2, expiry: .after(.zero)), nil),
    (.keepStored(), 1), (.returnOnly(2), 1),
  ]

  /// A write that is refused because of an edit delivers the changes of other threads. The test ends the edit in that
  /// delivery.
  @Test(arguments: endings.indices)
  func `a fetch result that an edit refuses is applied after the edit ends`(
    number: Int
  ) async throws {
    let (outcome, last) = Self.endings[number]
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.taskExecutor = ThreadPerJob()
    let cache = try Cache<Key, Int>(costLimit: 100, configuration: configuration)
    let (a, other) = (Key("a"), Key("other"))
    let (released, proceed) = (Gate(), DispatchSemaphore(value: 0))
    cache[a] = 1
    cache[
      Key("other") {
        released.open()
        proceed.wait()
      }] = 9
    let executor = DeliveryExecutor()
    let token = cache.observe(.key(other), on: executor) { _ in }

    let (failing, ended) = (Gate(), DispatchSemaphore(value: 0))
    let edit = Task(executorPreference: ThreadPerJob()) {
      defer { ended.signal() }
      _ = try await cache.editValue(forKey: a) {
        ($0 ?? 0) + 100
      } confirmedBy: {
        await failing.passUncancelled()
        throw Broken()
      }
    }
    await failing.arrivals(atLeast: 1)
    let fetched = Gate()
    let load = Task(executorPreference: ThreadPerJob()) {
      try await cache.load(a, policy: .reload) { _ in
        await fetched.passUncancelled()
        return outcome
      }
    }
    await fetched.arrivals(atLeast: 1)
    // The change of the other key is recorded, and this thread has not delivered it yet.
    try SystemThread.start { cache.removeValue(forKey: other) }
    await released.passUncancelled()
    executor.atNextDelivery {
      failing.open()
      ended.wait()
    }
    fetched.open()
    _ = try await load.value
    proceed.signal()
    await #expect(throws: Broken.self) { try await edit.value }
    #expect(cache[a] == last)
    #expect(cache.checkInvariants() == [])
    token.cancel()
  }
}
