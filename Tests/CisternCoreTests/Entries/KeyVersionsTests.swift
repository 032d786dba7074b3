import Testing

@testable import CisternCore

struct KeyVersionsTests {
  /// Returns a key with its own hash.
  private func key(_ number: Int) -> HashedKey<Int> { HashedKey(number, hash: UInt64(number)) }

  @Test func `the version of a watched key counts all changes, and separately replacements and removals`() {
    var versions = KeyVersions<Int>()
    versions.note(.replacement, on: key(1))
    #expect(versions.isEmpty && versions[key(1)] == nil)
    versions.watch(key(1))
    versions.watch(key(1))
    versions.watch(key(2))
    for (effect, changes, ends) in [
      (WriteEffect.maintenance, 0, 0), (.addition, 1, 0), (.replacement, 2, 1), (.maintenance, 2, 1), (.addition, 3, 1),
    ] {
      versions.note(effect, on: key(1))
      #expect(versions[key(1)]?.version == KeyVersion(changes: UInt32(changes), ends: UInt32(ends)))
    }
    #expect(versions[key(2)]?.version == KeyVersion())
    versions.noteRemovalOfAll()
    #expect(versions[key(2)]?.version == KeyVersion(changes: 1, ends: 1))
    versions.unwatch(key(1))
    #expect(versions[key(1)] != nil)
    versions.unwatch(key(1))
    versions.unwatch(key(2))
    #expect(versions.isEmpty)
  }

  @Test func `keys with one hash have a version and an edit state each`() {
    let (one, other) = (HashedKey(1, hash: 7), HashedKey(2, hash: 7))
    var versions = KeyVersions<Int>()
    for key in [one, other, one] { versions.watch(key) }
    versions.note(.replacement, on: other)
    versions.setEdited(true, other)
    #expect(versions[one]?.version == KeyVersion() && versions[one]?.isEdited == false)
    #expect(versions[other]?.version == KeyVersion(changes: 1, ends: 1) && versions[other]?.isEdited == true)
    let (unwatched, stillWatched) = (versions.unwatch(other), versions.unwatch(one))
    #expect(unwatched == other && stillWatched == nil)
    #expect(versions[other] == nil && versions[one] != nil)
  }

  @Test func `the end of all edits leaves no watched key edited, and changes no version`() {
    var versions = KeyVersions<Int>()
    versions.endEdits()
    #expect(versions.isEmpty)
    for number in 1...2 {
      versions.watch(key(number))
      versions.setEdited(true, key(number))
    }
    versions.endEdits()
    for number in 1...2 {
      #expect(versions[key(number)]?.isEdited == false && versions[key(number)]?.version == KeyVersion())
    }
  }

  @Test func `a key that does not equal itself is watched by its hash`() throws {
    let key = HashedKey(Double.nan, hash: 7)
    var versions = KeyVersions<Double>()
    versions.watch(key)
    versions.note(.addition, on: key)
    try #require(versions[key]?.version == KeyVersion(changes: 1))
    versions.unwatch(key)
    #expect(versions.isEmpty)
  }

  @Test func `the bound of a reader ends with the last reader that watches the key, although a writer watches it`() {
    var versions = KeyVersions<Int>()
    versions.watch(key(1))
    for number in [5, 7] as [UInt64] {
      versions.watch(key(1), readSince: InvalidationVersion(number: number))
    }
    #expect(versions.oldestRead == InvalidationVersion(number: 5))
    versions.unwatch(key(1), as: .reader)
    #expect(versions.oldestRead == InvalidationVersion(number: 5))
    versions.unwatch(key(1), as: .reader)
    #expect(versions.oldestRead == .max && versions[key(1)] != nil)
    versions.unwatch(key(1))
    #expect(versions.isEmpty)
  }

  @Test func `a widened removal changes the values that were read or edited, and ends the fetches of all keys`() {
    var versions = KeyVersions<Int>()
    versions.noteWidenedRemoval(ofRead: [key(1)])
    #expect(versions.isEmpty)
    for number in 1...3 { versions.watch(key(number)) }
    versions.setEdited(true, key(2))
    versions.noteWidenedRemoval(ofRead: [key(1), key(2)])
    for (number, changes) in [(1, 1), (2, 1), (3, 0)] as [(Int, UInt32)] {
      let version = KeyVersion(changes: changes, ends: 1)
      #expect(versions[key(number)]?.version == version)
      #expect(version.hasSameValue(as: KeyVersion()) == (changes == 0))
    }
    versions.noteWidenedRemoval(ofRead: [])
    #expect(versions[key(1)]?.version == KeyVersion(changes: 1, ends: 2))
    #expect(versions[key(2)]?.version == KeyVersion(changes: 2, ends: 2))
  }

  @Test func `a write that depends on a version applies only to it, and pending edits block fetches and promotions`() {
    typealias Entry = CisternCore.Entry<Int>
    var versions = KeyVersions<Int>()
    versions.watch(key(1))
    let version = KeyVersion()
    let flight = Flight<Int>(work: FlightWork(), priority: .medium)
    let own = Entry.inProgress(flight)
    func permits(_ condition: WriteCondition<Int>, _ entry: Entry? = nil) -> Bool {
      Entry.permits(condition, entry, writeVersion: 7, watched: versions[key(1)])
    }
    #expect(permits(.unchanged(since: version)) && permits(.unchanged(since: version, of: flight), own))
    #expect(!permits(.unchanged(since: version, of: flight)))
    #expect(
      permits(.unedited) && permits(.always) && permits(.own(flight), own) && permits(.untouched(writeVersion: 7)))
    #expect(permits(.unheld(writeVersion: 7)))
    #expect(permits(.keeping(flight, since: version), own) && permits(.leading(flight), own))
    #expect(!permits(.keeping(flight, since: version)) && !permits(.leading(flight)))
    versions.setEdited(true, key(1))
    #expect(
      !permits(.unedited) && permits(.always) && !permits(.own(flight), own) && !permits(.untouched(writeVersion: 7)))
    #expect(!permits(.unheld(writeVersion: 7)))
    #expect(!permits(.keeping(flight, since: version), own) && !permits(.leading(flight), own))
    #expect(permits(.unchanged(since: version)))
    versions.setEdited(false, key(1))
    #expect(permits(.beside(flight, invalidationVersion: 0), own))
    flight.noteNewerRecord()
    #expect(!permits(.beside(flight, invalidationVersion: 0), own) && !permits(.leading(flight), own))
    versions.note(.addition, on: key(1))
    #expect(!permits(.keeping(flight, since: version), own) && permits(.own(flight), own))
    #expect(!permits(.unchanged(since: version)) && !permits(.unchanged(since: version, of: flight), own))
    #expect(!Entry.permits(.unchanged(since: version), nil, writeVersion: 7, watched: nil))
  }
}
