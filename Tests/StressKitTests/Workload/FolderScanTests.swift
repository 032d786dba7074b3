import Testing
import TestDirectories

@testable import StressKit

/// The files that a run serves.
@Suite struct FolderScanTests {
  private let folder = TemporaryDirectory()

  @Test func `of files whose names differ only in their Unicode form, one is served`() throws {
    for name in ["\u{E9}.txt", "e\u{301}.txt", "f.txt"] { _ = try folder.file(name, "text") }
    let files = try FolderScan.files(in: folder.path)
    #expect(files.map(\.path) == ["e\u{301}.txt", "f.txt"].sorted())
  }
}
