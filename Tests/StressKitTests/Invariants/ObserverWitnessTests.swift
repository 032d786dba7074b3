import Cistern
import CisternTesting
import Testing

@testable import StressKit

/// The observer of a whole cache, and the cache that it is compared with.
struct ObserverWitnessTests {
  @Test(.timeLimit(.minutes(30)))
  func `after one event that does not come in time, no key is waited for`() async throws {
    let keys = KeySpace(count: 10_000, valueSize: 100)
    let violations = ViolationLog()
    let witness = ObserverWitness(run: 7, keys: keys, violations: violations)
    let (observed, empty) = (try Cache<String, [UInt8]>(), try Cache<String, [UInt8]>())
    let observations = Observations()
    observed.observe(.all) { witness.receive($0) }.store(in: observations)
    for (key, name) in keys.names.enumerated() {
      observed.setValue(keys.value(of: key, version: .written(1), run: 7), forKey: name)
      witness.wrote(name, .written(1))
    }
    await witness.settle(with: observed)
    #expect(violations.count == 0)
    // With a separate time for each key, this comparison would take hours.
    await witness.settle(with: empty, patience: .seconds(1))
    #expect(violations.count == keys.count)
    observations.cancelAll()
  }

  @Test func `each late event has the whole time`() async throws {
    let keys = KeySpace(count: 300, valueSize: 100)
    let violations = ViolationLog()
    let witness = ObserverWitness(run: 7, keys: keys, violations: violations)
    let clock = ManualClock()
    var store = Store.Configuration()
    store.clock = clock
    let cache = try Cache<String, [UInt8]>(expiry: .after(.seconds(1)), configuration: store)
    let observations = Observations()
    cache.observe(.all) { witness.receive($0) }.store(in: observations)
    for (key, name) in keys.names.enumerated() {
      cache.setValue(keys.value(of: key, version: .written(1), run: 7), forKey: name)
      witness.wrote(name, .written(1))
    }
    await witness.settle(with: cache)
    // The read of each key removes its expired value, and the event of the removal comes later.
    clock.advance(by: .seconds(2))
    await witness.settle(with: cache)
    #expect(violations.violations == [])
    observations.cancelAll()
  }
}
