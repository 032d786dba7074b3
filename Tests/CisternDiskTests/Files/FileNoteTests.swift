import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The notes of files for which a process does not vouch.
@Suite struct FileNoteTests {
  /// The reason why a process does not vouch for its file.
  enum Distrust: CaseIterable, Sendable {
    case fromTheBeginning, afterForeignChange, afterFailedWriteThrough
  }

  private let scratch = TemporaryDirectory()

  /// Changes the file as another program would.
  private func change(_ body: (FileHandle) throws -> Void) throws {
    let file = try FileHandle(forUpdating: scratch.dataFile)
    try body(file)
    try file.close()
  }

  private func begin(_ file: DiskFile, _ claim: DirectoryClaim, distrust: Distrust) throws {
    file.note.begin(file.environment, claim, isTrusted: distrust != .fromTheBeginning)
    switch distrust {
    case .fromTheBeginning: break
    case .afterForeignChange:
      let first = try Data(contentsOf: scratch.dataFile).prefix(1)
      try change { try $0.write(contentsOf: first) }
    case .afterFailedWriteThrough: file.note.distrust(file.environment, claim)
    }
  }

  @Test(arguments: Distrust.allCases)
  func `a change of a file for which the process does not vouch is refused if another program has truncated it`(
    distrust: Distrust
  ) async throws {
    try await fill(scratch, count: 300)
    let claim = try DirectoryClaim(directory: scratch.store, isReadOnly: false)
    let opening = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: ""))
    let file = try DiskFile.open(
      directory: scratch.store, options: opening.environmentOptions(), layout: .only(.tested))
    try begin(file, claim, distrust: distrust)
    for _ in 0..<2 { try file.note.expectChange(of: file.environment, claim) }
    let size = try scratch.dataFileSize
    // No transaction follows, because a read of the missing part would end the process.
    try change { try $0.truncate(atOffset: UInt64(size - DiskLimits.pageSize)) }
    let error = #expect(throws: LMDBError.self) { try file.note.expectChange(of: file.environment, claim) }
    #expect(error?.code == .truncated)
    #expect(try claim.readMark()?.file.fingerprint == nil || distrust == .fromTheBeginning)
    try file.close()
  }
}
