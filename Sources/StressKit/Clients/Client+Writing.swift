import CisternTesting
import Cistern

extension Client {
  /// The maximum size of an oversize value in bytes, even if the memory limit is higher.
  private static let largestOversize = 64 << 20

  /// Returns the size of a value that is larger than a memory limit, or nil if a run does not write such large values.
  ///
  /// The value has a stamp in any case, even if the limit is smaller than a stamp.
  static func oversize(ofLimit bytes: Int) -> Int? {
    let size = max(Stamp.size, min(bytes, Client.largestOversize) + 1)
    return size <= Client.largestOversize ? size : nil
  }

  /// Writes a value, and returns immediately.
  func write(_ key: Int) {
    let name = runState.keys.names[key]
    let (runState, cache) = (runState, cache)
    var written: Version?
    let start = Ticks.now()
    var end = start
    runState.register.write(key, .value) { version in
      let value = runState.keys.value(of: key, version: version, run: runState.run)
      cache.setValue(value, forKey: name)
      end = Ticks.now()
      runState.freshness.wrote(key, version, by: end)
      written = version
    }
    tally.record(.written, from: start, to: end)
    if let written { subject.witness.wrote(name, written) }
  }

  /// Writes a value, and returns after the commit.
  func commit(_ key: Int) async {
    let name = runState.keys.names[key]
    let (runState, cache, witness) = (runState, cache, subject.witness)
    let start = Ticks.now()
    await runState.register.write(key, .value) { version in
      let value = runState.keys.value(of: key, version: version, run: runState.run)
      do {
        try await cache.commitValue(value, forKey: name)
      } catch {
        runState.violations.report(.failed, "\(name): a commit failed: \(error)")
      }
      runState.freshness.wrote(key, version, by: Ticks.now())
      witness.wrote(name, version)
    }
    tally.record(.committed, from: start, to: Ticks.now())
  }

  /// Writes a value that is larger than the memory limit. The write must evict no other entry, and must replace the
  /// key's older value.
  func writeOversize(_ key: Int) {
    let name = runState.keys.names[key]
    guard let size = Client.oversize(ofLimit: runState.configuration.memoryLimit.bytes) else { return write(key) }
    let (runState, cache) = (runState, cache)
    let start = Ticks.now()
    runState.register.write(key, .value) { version in
      let payload = [UInt8](repeating: 0, count: size - Stamp.size)
      let stamp = Stamp(run: runState.run, key: key, version: version, payload: payload)
      // The disk tier may accept or refuse the value. An accepted value is announced to observers, and a refused
      // one acts as a removal.
      subject.witness.notePossibleAnnouncement(name, version)
      cache.setValue(stamp.value(payload: payload), forKey: name)
    }
    tally.record(.written, from: start, to: Ticks.now())
  }

  /// Removes a value, and returns immediately.
  func remove(_ key: Int) {
    let name = runState.keys.names[key]
    let start = Ticks.now()
    runState.register.write(key, .nothing) { _ in cache.removeValue(forKey: name) }
    tally.record(.removed, from: start, to: Ticks.now())
  }

  /// Removes a value, and returns after the commit.
  func commitRemoval(_ key: Int) async {
    let name = runState.keys.names[key]
    let (runState, cache) = (runState, cache)
    let start = Ticks.now()
    await runState.register.write(key, .nothing) { _ in
      do {
        try await cache.commitRemoval(forKey: name)
      } catch {
        runState.violations.report(.failed, "\(name): a committed removal failed: \(error)")
      }
    }
    tally.record(.committed, from: start, to: Ticks.now())
  }

  /// Removes all keys.
  func removeAll() {
    let start = Ticks.now()
    runState.register.clear { cache.removeAll() }
    tally.record(.removed, from: start, to: Ticks.now())
  }

  /// Removes all keys with the tag of this key.
  mutating func removeTagged(_ key: Int) async {
    let tag = runState.keys.tag(of: key)
    let waits = generator.next(below: 8) == 0
    let (runState, cache) = (runState, cache)
    await tally.measure {
      await runState.register.clear(.tag(tag)) {
        guard waits else { return cache.removeAll(tagged: tag) }
        do { try await cache.commitRemovalOfAll(tagged: tag) } catch { Client.report(error, tag, runState) }
      }
      return .invalidated
    }
  }

  /// Removes all keys with the prefix of this key. If the key has no prefix, removes all keys with its tag.
  mutating func removePrefix(_ key: Int) async {
    guard let prefix = runState.keys.prefix(of: key) else { return await removeTagged(key) }
    let waits = generator.next(below: 8) == 0
    let (runState, cache) = (runState, cache)
    await tally.measure {
      await runState.register.clear(.prefix(prefix)) {
        guard waits else { return cache.removeAll(withPrefix: prefix) }
        do { try await cache.commitRemovalOfAll(withPrefix: prefix) } catch { Client.report(error, prefix, runState) }
      }
      return .invalidated
    }
  }

  private static func report(_ error: any Error, _ scope: String, _ runState: RunState) {
    runState.violations.report(.failed, "\(scope): a removal of many keys failed: \(error)")
  }

  /// Trims the memory tier to half of its limit.
  func trim() {
    let start = Ticks.now()
    cache.trim(toCost: runState.configuration.memoryLimit.bytes / 2)
    tally.record(.removed, from: start, to: Ticks.now())
  }
}
