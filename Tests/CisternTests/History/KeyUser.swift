import Cistern
import CisternTesting
import CisternTestSupport

/// A worker that performs random operations on a few keys and records their results.
struct KeyUser: Sendable {
  /// The kinds of operations that a worker performs in addition to reads and writes of single keys.
  struct Habits: Sendable {
    /// Whether it loads.
    var loads = true
    /// Whether it empties memory. This loses no value if a disk tier has them.
    var trims = false
    /// Whether it removes by a prefix.
    var invalidates = true
  }

  static let keys = ["k0", "k1", "k2", "k3", "other"]

  let cache: Cache<String, Int>
  let recorder: KeyRecorder
  var generator: SeededGenerator
  let habits: Habits
  private var log: [String: [KeyRecorder.Operation]] = [:]

  init(cache: Cache<String, Int>, recorder: KeyRecorder, generator: SeededGenerator, habits: Habits) {
    self.cache = cache
    self.recorder = recorder
    self.generator = generator
    self.habits = habits
  }

  /// Performs `count` operations, loads included.
  func work(_ count: Int) async {
    var user = self
    for _ in 0..<count {
      if habits.loads, user.generator.next(below: 3) == 0 { await user.load() } else { user.operate() }
    }
    recorder.add(user.log)
  }

  /// Performs `count` operations that need no task.
  func workAlone(_ count: Int) {
    var user = self
    for _ in 0..<count { user.operate() }
    recorder.add(user.log)
  }

  private mutating func pickKey() -> String { Self.keys[generator.next(below: Self.keys.count)] }

  private mutating func record(
    _ operation: KeyModel.Operation, on key: String, called: UInt64, returned: UInt64? = nil
  ) {
    log[key, default: []].append(.init(operation, called: called, returned: returned ?? recorder.tick()))
  }

  private mutating func operate() {
    let key = pickKey()
    let choice = generator.next(below: 100)
    let called = recorder.tick()
    switch choice {
    case ..<12:
      let value = recorder.newValue()
      cache[key] = value
      record(.set(value), on: key, called: called)
    case ..<26:
      cache[key] = nil
      record(.removed, on: key, called: called)
    case ..<36:
      let value = generator.next(below: 4) == 0 ? nil : recorder.newValue()
      let old = cache.updateValue(forKey: key) { cached in
        let old = cached
        cached = value
        return old
      }
      record(.updated(from: old, to: value), on: key, called: called)
    case 36:
      cache.removeAll()
      let returned = recorder.tick()
      for key in Self.keys { record(.removed, on: key, called: called, returned: returned) }
    case 37 where habits.invalidates:
      cache.removeAll(withPrefix: "k")
      let returned = recorder.tick()
      for key in Self.keys where key != "other" { record(.removed, on: key, called: called, returned: returned) }
    case 39 where habits.trims:
      cache.trim(toCost: 0)
    default:
      let value = cache[key]
      record(value.map { .found($0) } ?? .missed, on: key, called: called)
    }
  }

  private mutating func load() async {
    let key = pickKey()
    let fails = generator.next(below: 10) == 0
    let isCancelled = generator.next(below: 8) == 0
    let pauses = generator.next(below: 3)
    let value = recorder.newValue()
    let fetch = FetchRecord()
    let called = recorder.tick()
    let load = Task { [cache, recorder] in
      try await cache.value(forKey: key) { _ in
        fetch.begin(at: recorder.tick())
        for _ in 0..<pauses { await Task.yield() }
        fetch.end(at: recorder.tick())
        if fails { throw Broken(number: value) }
        return value
      }
    }
    if isCancelled {
      await Task.yield()
      load.cancel()
    }
    let result = await load.result
    let returned = recorder.tick()
    switch result {
    case .success(value):
      record(.began(value), on: key, called: called, returned: fetch.began)
      record(.completed(value), on: key, called: fetch.ended ?? called, returned: returned)
    case .success(let other):
      record(.joined(other), on: key, called: called, returned: returned)
    case .failure(let error as Broken) where error.number == value:
      record(.began(value), on: key, called: called, returned: fetch.began)
      record(.failed(value), on: key, called: fetch.ended ?? called, returned: returned)
    case .failure(let error as Broken):
      record(.joinedFailure(error.number), on: key, called: called, returned: returned)
    case .failure:
      // The caller left. The flight may go on for other callers that joined it, and its fetch may not have begun yet.
      recorder.add(.init(key: key, value: value, called: called, fetch: fetch))
    }
  }
}
