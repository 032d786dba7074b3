import CisternCore
import CisternTestSupport
import CisternTesting
import Dispatch
import Testing

/// The end of a value whose record another reader read before. Observers learn of the end once.
struct EndDuringReadTests {
  fileprivate final class Fixture: Sendable {
    let clock = InterruptedClock()
    let tier = FaultInjectingTier(losses: .onDemand)
    let cache: Cache<String, Int>
    private let changes = Recorder<String>()
    private let token: ObservationToken

    /// A cache with a value that only the second tier has.
    init(_ expiry: Expiry = .after(.seconds(60))) throws {
      let configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: ThreadPerJob())
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: configuration)
      cache = try store.cache("numbers", of: Int.self, keyedBy: String.self, expiry: expiry)
      cache["a"] = 1
      cache.trim(toCost: 0)
      token = cache.observe { [changes] in changes.record("\($0.event)") }
    }

    /// Loads the value that the second tier has, before the method returns.
    func loadOnOwnThread() {
      let isLoaded = DispatchSemaphore(value: 0)
      Task(executorPreference: ThreadPerJob()) { [cache] in
        let value = try? await cache.value(forKey: "a") { _ in throw Broken(number: 1) }
        #expect(value == 1)
        isLoaded.signal()
      }
      isLoaded.wait()
    }

    /// The changes that observers learned of until no tier has a value.
    func observedChanges() async -> [String] {
      _ = cache["a"]
      cache.trim(toCost: 0)
      _ = cache["a"]
      clock.manual.advance(by: .seconds(1000))
      for _ in 0..<3 { _ = cache["a"] }
      tier.deliverLosses()
      cache["last"] = 2
      let last = "inserted(\"last\", 2)"
      while !changes.elements.contains(last) { await Task.yield() }
      return changes.elements.filter { $0 != last }
    }
  }

  private static func removal(_ cause: RemovalCause) -> String { "removed(\"a\", \(String(reflecting: cause)))" }

  /// The end of a value, after a load has read its record, and before the load puts the value into memory.
  enum Ending: CaseIterable, Sendable {
    case recordExpires
    // Before these, another load puts the value into memory.
    case valueExpires, tierLosesRecord, tierRefusesRecord

    fileprivate func apply(to fixture: Fixture) {
      let (cache, tier) = (fixture.cache, fixture.tier)
      switch self {
      case .recordExpires:
        fixture.clock.manual.advance(by: .seconds(61))
        // The look at each key ends the values whose time is up.
        _ = cache.removeAll { _ in false }
      case .valueExpires:
        fixture.loadOnOwnThread()
        fixture.clock.manual.advance(by: .seconds(61))
        #expect(cache["a"] == nil)
      case .tierLosesRecord:
        fixture.loadOnOwnThread()
        tier.evict("a", from: "numbers")
        tier.deliverLosses()
        cache.trim(toCost: 0)
      case .tierRefusesRecord:
        // The promotion writes the record again, because the use of the value is due.
        tier.setSizeLimit(0)
        fixture.loadOnOwnThread()
        cache.trim(toCost: 0)
      }
    }

    fileprivate var cause: RemovalCause {
      switch self {
      case .recordExpires, .valueExpires: .expired
      case .tierLosesRecord, .tierRefusesRecord: .evicted
      }
    }
  }

  @Test(arguments: Ending.allCases)
  func `a value that ended is not brought back by a load that read its record beside a refresh`(
    ending: Ending
  ) async throws {
    for count in 0... {
      let fixture = try Fixture(ending == .tierRefusesRecord ? .idle(.seconds(60)) : .after(.seconds(60)))
      if ending == .tierRefusesRecord { fixture.clock.manual.advance(by: .seconds(40)) }
      let cache = fixture.cache
      let gate = Gate()
      let reload = Task {
        _ = try? await cache.value(forKey: "a", policy: .reload) { _ in
          try await gate.pass()
          return 5
        }
      }
      await gate.arrivals(atLeast: 1)
      fixture.clock.interrupt(afterReads: count) { ending.apply(to: fixture) }
      // A load that finds no value joins the refresh, and its time ends at once.
      let policy = LoadPolicy.cachedOrFetch.timingOut(after: .zero)
      _ = try? await cache.value(forKey: "a", policy: policy) { _ in throw Broken(number: 1) }
      let hasEnded = fixture.clock.endInterruption()
      reload.cancel()
      await reload.value
      let value = cache["a"]
      let changes = await fixture.observedChanges()
      // The load may have put the value into memory before. The tier then refuses nothing, and the value expires later.
      let isLater = ending == .tierRefusesRecord && value == 1
      #expect(
        !hasEnded || changes == [Self.removal(isLater ? .expired : ending.cause)],
        "\(changes) after \(count) reads of the clock")
      #expect(!hasEnded || isLater || value == nil, "after \(count) reads of the clock")
      #expect(cache.checkInvariants() == [])
      if !hasEnded { break }
    }
  }

  @Test func `a value that ended is not brought back by a load that read its record before`() async throws {
    for count in 0... {
      let fixture = try Fixture()
      fixture.clock.interrupt(afterReads: count) { Ending.recordExpires.apply(to: fixture) }
      _ = try? await fixture.cache.value(forKey: "a") { _ in throw Broken(number: 1) }
      guard fixture.clock.endInterruption() else { break }
      #expect(await fixture.observedChanges() == [Self.removal(.expired)], "after \(count) reads of the clock")
      #expect(fixture.cache.checkInvariants() == [])
    }
  }

  /// The defect of a record that a load finds, after another load has put its value into memory.
  enum Defect: CaseIterable, Sendable {
    case expired, undecodable
  }

  @Test(arguments: Defect.allCases)
  func `a load does not announce the end of a value that memory holds`(defect: Defect) async throws {
    let fixture = try Fixture()
    let (cache, tier) = (fixture.cache, fixture.tier)
    let gate = Gate()
    let reload = Task {
      try await cache.value(forKey: "a", policy: .reload) { _ in
        try await gate.pass()
        return 5
      }
    }
    await gate.arrivals(atLeast: 1)
    tier.setBeforeLoad { [unowned fixture] _ in
      tier.setBeforeLoad(nil)
      fixture.loadOnOwnThread()
      switch defect {
      case .expired: fixture.clock.manual.advance(by: .seconds(61))
      case .undecodable: tier.corrupt("a", in: "numbers") { $0 = [] }
      }
    }
    let load = Task(executorPreference: ThreadPerJob()) {
      let policy = LoadPolicy.cachedOrFetch.timingOut(after: .zero)
      _ = try? await cache.value(forKey: "a", policy: policy) { _ in throw Broken(number: 2) }
    }
    await load.value
    #expect(await fixture.observedChanges() == [Self.removal(defect == .expired ? .expired : .evicted)])
    #expect(cache.statistics.expirations == (defect == .expired ? 1 : 0))
    gate.open()
    #expect(try await reload.value == 5)
    #expect(cache.checkInvariants() == [])
  }
}
