import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// Handlers that block real threads. The work is bounded and uses no clock.
@Suite struct HandlerThreadsTests {
  /// Blocks threads until `open()` is called.
  private final class Barrier: Sendable {
    private let isOpen = Monitor(false)
    private let arrivals = Guarded<(count: Int, continuation: AsyncStream<Int>.Continuation)?>(nil)
    let arrived: AsyncStream<Int>

    init() {
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      arrived = stream
      arrivals.withLock { $0 = (0, continuation) }
    }

    func pass() {
      arrivals.withLock { arrivals in
        arrivals?.count += 1
        if let arrivals { arrivals.continuation.yield(arrivals.count) }
      }
      isOpen.wait { $0 ? () : nil }
    }

    func arrivals(_ count: Int) async {
      for await number in arrived where number == count { return }
    }

    func open() { isOpen.change { $0 = true } }
  }

  @Test func `handlers that block delay neither the handlers of other observers nor a load`() async throws {
    let cache = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("c", of: Int.self, keyedBy: String.self)
    let barrier = Barrier()
    let tokens = Observations()
    // More than the number of threads in the pool.
    let count = 48
    for _ in 0..<count { cache.observe(.key("blocked")) { _ in barrier.pass() }.store(in: tokens) }
    let (heard, handler) = AsyncStream<Int>.makeStream()
    cache.observe(.key("free")) { change in
      if let value = change.value { handler.yield(value) }
    }.store(in: tokens)
    cache["blocked"] = 1
    await barrier.arrivals(count)
    let loaded = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask { try await cache.value(forKey: "\(number)") { _ in number } }
      }
      return try await group.reduce(0, +)
    }
    #expect(loaded == 4_950)
    cache["free"] = 7
    for await value in heard { #expect(value == 7); break }
    barrier.open()
    tokens.cancelAll()
  }

  @Test func `many observers receive each change once and in order, with fewer threads than observers`() async {
    let threads = HandlerThreads(limit: 3, idleNanoseconds: 1)
    let (counts, continuation) = AsyncStream<Int>.makeStream()
    for job in 0..<50 {
      let left = Guarded(100)
      threads.run {
        let rest = left.withLock { left in
          left -= 1
          return left
        }
        if rest == 0 { continuation.yield(job) }
        return rest > 0
      }
    }
    var jobs: Set<Int> = []
    for await job in counts {
      jobs.insert(job)
      if jobs.count == 50 { break }
    }
    #expect(threads.count <= 3)
    // Idle threads end.
    while threads.count > 0 { await Task.yield() }
  }

  private final class CountingExecutor: TaskExecutor {
    let count = Guarded(0)

    func enqueue(_ job: consuming ExecutorJob) {
      count.withLock { $0 += 1 }
      let job = UnownedJob(job)
      // The executor lives as long as the job, because the task holds it.
      Task.detached { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  @Test func `a handler runs on the executor that was passed`() async throws {
    let cache = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("c", of: Int.self, keyedBy: String.self)
    let executor = CountingExecutor()
    let (heard, handler) = AsyncStream<String>.makeStream()
    let tokens = Observations()
    cache.observe(on: executor) { handler.yield("change \($0.value ?? 0)") }.store(in: tokens)
    cache.observeChangeSets(on: executor) { handler.yield("set of \($0.changes.count)") }.store(in: tokens)
    cache.observeValue(forKey: "k", on: executor) { if let value = $0 { handler.yield("value \(value)") } }
      .store(in: tokens)
    cache["k"] = 5
    var seen: Set<String> = []
    for await text in heard {
      seen.insert(text)
      if seen.count == 3 { break }
    }
    #expect(seen == ["change 5", "set of 1", "value 5"])
    #expect(executor.count.withLock { $0 } >= 3)
    tokens.cancelAll()
  }

  @MainActor
  private final class Screen {
    private(set) var texts: [String] = []
    private let shown: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() { (shown, continuation) = AsyncStream<Int>.makeStream() }

    func show(_ text: String) {
      texts.append(text)
      continuation.yield(texts.count)
    }

    /// Waits without occupying the main thread, because other tests need the processor.
    func waitForTexts(_ count: Int) async {
      for await number in shown where number == count { return }
    }
  }

  @Test @MainActor func `a handler runs on the main actor, in order`() async throws {
    let cache = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("c", of: Int.self, keyedBy: String.self)
    let screen = Screen()
    let tokens = Observations()
    cache.observe(.all, on: MainActor.shared) { screen.show("change \($0.value ?? 0)") }.store(in: tokens)
    cache.observeChangeSets(on: MainActor.shared) { screen.show("set of \($0.changes.count)") }
      .store(in: tokens)
    cache.observeValue(forKey: "k", on: MainActor.shared) { value in
      if let value { screen.show("value \(value)") }
    }.store(in: tokens)
    for value in 1...100 { cache["k"] = value }
    await screen.waitForTexts(300)
    #expect(screen.texts.filter { $0.hasPrefix("change") } == (1...100).map { "change \($0)" })
    #expect(screen.texts.filter { $0.hasPrefix("value") } == (1...100).map { "value \($0)" })
    tokens.cancelAll()
  }

  @Test @MainActor func `a handler of events runs on the main actor`() async throws {
    let cache = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("c", of: Int.self, keyedBy: String.self)
    let screen = Screen()
    let token = cache.observeEvents(on: MainActor.shared) { screen.show($0.key ?? "none") }
    for number in 0..<20 {
      await #expect(throws: Broken.self) { try await cache.value(forKey: "\(number)") { _ in throw Broken() } }
    }
    await screen.waitForTexts(20)
    #expect(screen.texts == (0..<20).map(String.init))
    token.cancel()
  }
}
