import Testing

@testable import CisternCore

struct KeyVersionsTests {
  @Test func `the version of a watched key counts all changes, and separately replacements and removals`() {
    var versions = KeyVersions()
    versions.note(.replacement, on: 1)
    #expect(versions.isEmpty && versions[1] == nil)
    versions.watch(1)
    versions.watch(1)
    versions.watch(2)
    for (effect, changes, ends) in [
      (WriteEffect.maintenance, 0, 0), (.addition, 1, 0), (.replacement, 2, 1), (.maintenance, 2, 1), (.addition, 3, 1),
    ] {
      versions.note(effect, on: 1)
      #expect(versions[1]?.version == KeyVersions.Version(changes: UInt32(changes), ends: UInt32(ends)))
    }
    #expect(versions[2]?.version == KeyVersions.Version())
    versions.noteRemovalOfAll()
    #expect(versions[2]?.version == KeyVersions.Version(changes: 1, ends: 1))
    versions.unwatch(1)
    #expect(versions[1] != nil)
    versions.unwatch(1)
    versions.unwatch(2)
    #expect(versions.isEmpty)
  }

  @Test func `a widened removal changes the values that were read or edited, and ends the fetches of all keys`() {
    var versions = KeyVersions()
    versions.noteWidenedRemoval(ofRead: [1])
    #expect(versions.isEmpty)
    for fingerprint in 1...3 as ClosedRange<UInt32> { versions.watch(fingerprint) }
    versions.setEdited(true, 2)
    versions.noteWidenedRemoval(ofRead: [1, 2])
    for (fingerprint, changes) in [(1, 1), (2, 1), (3, 0)] as [(UInt32, UInt32)] {
      let version = KeyVersions.Version(changes: changes, ends: 1)
      #expect(versions[fingerprint]?.version == version)
      #expect(version.hasSameValue(as: KeyVersions.Version()) == (changes == 0))
    }
    versions.noteWidenedRemoval(ofRead: [])
    #expect(versions[1]?.version == KeyVersions.Version(changes: 1, ends: 2))
    #expect(versions[2]?.version == KeyVersions.Version(changes: 2, ends: 2))
  }

  @Test func `a write that depends on a version applies only to it, and pending edits block fetches and promotions`() {
    typealias Entry = CisternCore.Entry<Int>
    var versions = KeyVersions()
    versions.watch(1)
    let version = KeyVersions.Version()
    let flight = Flight<Int>(work: FlightWork(), priority: .medium)
    let own = Entry.inProgress(flight)
    func permits(_ condition: WriteCondition<Int>, _ entry: Entry? = nil) -> Bool {
      Entry.permits(condition, entry, writeVersion: 7, watched: versions[1])
    }
    #expect(permits(.unchanged(since: version)) && permits(.unchanged(since: version, of: flight), own))
    #expect(!permits(.unchanged(since: version, of: flight)))
    #expect(
      permits(.unedited) && permits(.always) && permits(.own(flight), own) && permits(.untouched(writeVersion: 7)))
    #expect(permits(.unheld(writeVersion: 7)))
    #expect(permits(.keeping(flight, since: version), own) && permits(.leading(flight), own))
    #expect(!permits(.keeping(flight, since: version)) && !permits(.leading(flight)))
    versions.setEdited(true, 1)
    #expect(
      !permits(.unedited) && permits(.always) && !permits(.own(flight), own) && !permits(.untouched(writeVersion: 7)))
    #expect(!permits(.unheld(writeVersion: 7)))
    #expect(!permits(.keeping(flight, since: version), own) && !permits(.leading(flight), own))
    #expect(permits(.unchanged(since: version)))
    versions.setEdited(false, 1)
    #expect(permits(.beside(flight, invalidationVersion: 0), own))
    flight.noteNewerRecord()
    #expect(!permits(.beside(flight, invalidationVersion: 0), own) && !permits(.leading(flight), own))
    versions.note(.addition, on: 1)
    #expect(!permits(.keeping(flight, since: version), own) && permits(.own(flight), own))
    #expect(!permits(.unchanged(since: version)) && !permits(.unchanged(since: version, of: flight), own))
    #expect(!Entry.permits(.unchanged(since: version), nil, writeVersion: 7, watched: nil))
  }
}
