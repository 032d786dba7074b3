extension Client {
  /// The inverse of the fraction of reads that check every byte of the value. The other reads check only the stamp.
  private static let thoroughness = 16

  mutating func drawThoroughness() -> Bool { generator.next(below: Client.thoroughness) == 0 }

  /// Looks up a key synchronously in both tiers.
  mutating func lookUp(_ key: Int) {
    let name = runState.keys.names[key]
    let isResident = cache.isInMemory(name)
    let start = Ticks.now()
    let value = cache.value(forKey: name)
    let end = Ticks.now()
    guard let value else {
      tally.record(.missed, from: start, to: end)
      return
    }
    tally.record(isResident ? .memory : .disk, from: start, to: end)
    runState.check(value.rawSpan, of: key, in: ReadWindow(start: start, end: end), isThorough: drawThoroughness())
  }

  /// Reads a key through a borrowed view of its bytes.
  mutating func view(_ key: Int) {
    let start = Ticks.now()
    let isThorough = drawThoroughness()
    let runState = runState
    // The check uses a time inside the call as its end. This time is earlier than the return, so the check is
    // stricter.
    let found: Void? = cache.withBytes(forKey: runState.keys.names[key]) { bytes in
      runState.check(bytes, of: key, in: ReadWindow(start: start, end: Ticks.now()), isThorough: isThorough)
    }
    tally.record(found == nil ? .missed : .disk, from: start, to: Ticks.now())
  }

  /// Loads a key: fetches the value if it is absent, or if the policy does not accept it.
  mutating func load(_ key: Int, _ choice: LoadChoice = .usual) async {
    var loading = Loading(runState: runState, origin: origin, cache: cache, key: key, isThorough: drawThoroughness())
    loading.choice = choice
    let start = Ticks.now()
    let outcome = await loading.run()
    tally.record(outcome, from: start, to: Ticks.now())
  }

  /// Loads several keys with one call.
  mutating func bulkLoad() async {
    var keys: Set<Int> = []
    for _ in 0..<2 + generator.next(below: 15) { keys.insert(runState.chooser.next(using: &generator)) }
    let names = runState.keys.names
    let numbers = Dictionary(keys.map { (names[$0], $0) }) { first, _ in first }
    let (runState, origin) = (runState, origin)
    let start = Ticks.now()
    do {
      let loaded = try await cache.values(forKeys: numbers.keys) { names in
        await Client.fetchAll(names.compactMap { numbers[$0] }, from: origin, calledAt: start, runState)
      }
      let end = Ticks.now()
      tally.record(.bulk, from: start, to: end)
      for (name, value) in loaded.values {
        runState.check(
          value.rawSpan, of: numbers[name]!, in: ReadWindow(start: start, end: end, staleness: .max),
          isThorough: drawThoroughness())
      }
      for (name, error) in loaded.failures { Loading.judge(error, name: name, runState) }
    } catch {
      // A bulk load throws nothing else than the cancellation of its task.
      tally.record(runState.violations.judge(error, of: "a bulk load"), from: start, to: Ticks.now())
    }
  }

  /// Fetches several keys concurrently. Keys whose fetch fails are left out.
  private static func fetchAll(
    _ keys: [Int], from origin: any Origin, calledAt call: UInt64, _ runState: RunState
  ) async -> [String: [UInt8]] {
    await withTaskGroup(of: (String, [UInt8])?.self) { group in
      for key in keys {
        group.addTask {
          do {
            return (runState.keys.names[key], try await runState.fetch(key, from: origin, calledAt: call))
          } catch {
            // A key that is left out is missing for the caller of this load. Callers that joined it fetch the key
            // again.
            return nil
          }
        }
      }
      var values: [String: [UInt8]] = [:]
      for await case let (name, value)? in group { values[name] = value }
      return values
    }
  }
}
