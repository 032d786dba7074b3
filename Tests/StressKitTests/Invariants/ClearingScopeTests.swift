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

  /// Writes the key, removes the scope, and then reads the written version.
  private func readAfterRemoval(of scope: ClearingScope, key: Int) {
    var written: Version?
    register.write(key, .value) { written = $0 }
    register.clear(scope) {}
    if let written { register.read(key, name: keys.names[key], written, from: Ticks.now() + 1, to: Ticks.now() + 2) }
  }

  @Test func `a read of a value removed by its tag is a violation`() {
    readAfterRemoval(of: .tag(keys.tag(of: 3)), key: 3)
    #expect(violations.violations.map(\.rule) == [.stale])
  }

  @Test func `a read of a value removed by its prefix is a violation`() throws {
    try readAfterRemoval(of: .prefix(#require(keys.prefix(of: 3))), key: 3)
    #expect(violations.violations.map(\.rule) == [.stale])
  }

  @Test func `the removal of another tag or prefix has no effect on a value`() throws {
    readAfterRemoval(of: .tag(keys.tag(of: 4)), key: 3)
    try readAfterRemoval(of: .prefix(#require(keys.prefix(of: 4))), key: 3)
    #expect(violations.count == 0)
  }

  @Test func `a name without a slash is not a prefix, because other names may begin with it`() {
    let files = [FolderScan.File(path: "README.md", size: 1), FolderScan.File(path: "Sources/a.swift", size: 1)]
    let keys = KeySpace(folder: ".", files: files, count: 40)
    #expect(keys.names.contains("README.md?copy=1") && keys.names.contains("README.md?copy=19"))
    for key in 0..<keys.count {
      guard let prefix = keys.prefix(of: key) else { continue }
      for other in 0..<keys.count where keys.names[other].hasPrefix(prefix) {
        #expect(keys.scopes(of: other).contains(.prefix(prefix)))
      }
    }
    #expect(keys.prefix(of: 0) == nil)
    #expect(keys.prefix(of: 1) == "Sources/")
  }

  @Test func `the removal of a tag explains a second fetch`() {
    let before = Ticks.now()
    #expect(!register.wasWritten(3, since: before))
    register.clear(.tag(keys.tag(of: 3))) {}
    #expect(register.wasWritten(3, since: before))
    #expect(!register.wasWritten(4, since: before))
  }
}
