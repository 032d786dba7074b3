import CisternTesting
import Testing

@testable import StressKit

@Suite struct ClearingScopeTests {
  private let violations = ViolationLog()
  private let keys = KeySpace(count: 64, valueSize: 100)
  private let register: VersionRegister

  init() {
    register = VersionRegister(
      keyCount: 64, sample: HistorySample(keys: []), violations: violations, scopes: { [keys] in keys.scopes(of: $0) })
  }

  /// Writes the key, removes the scope, and reads what was written.
  private func readAfterRemoval(of scope: ClearingScope, key: Int) {
    var written: Version?
    register.write(key, .value) { written = $0 }
    register.clear(scope) {}
    if let written { register.read(key, name: keys.names[key], written, from: Ticks.now() + 1, to: Ticks.now() + 2) }
  }

  @Test func `a value that was removed with its tag may not be read`() {
    readAfterRemoval(of: .tag(keys.tag(of: 3)), key: 3)
    #expect(violations.violations.map(\.rule) == [.stale])
  }

  @Test func `a value that was removed with its prefix may not be read`() {
    readAfterRemoval(of: .prefix(keys.prefix(of: 3)), key: 3)
    #expect(violations.violations.map(\.rule) == [.stale])
  }

  @Test func `another tag's removal says nothing of a value`() {
    readAfterRemoval(of: .tag(keys.tag(of: 4)), key: 3)
    readAfterRemoval(of: .prefix(keys.prefix(of: 4)), key: 3)
    #expect(violations.count == 0)
  }

  @Test func `the removal of a tag explains a second fetch`() {
    let before = Ticks.now()
    #expect(!register.wasWritten(3, since: before))
    register.clear(.tag(keys.tag(of: 3))) {}
    #expect(register.wasWritten(3, since: before))
    #expect(!register.wasWritten(4, since: before))
  }
}
