import Cistern
import Foundation
import TestDirectories
import Testing

@testable import StressKit

/// `cistern backup`: the copy, and the directories that it refuses.
@Suite struct BackupTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }
  private var copy: String { folder.path + "/copy" }

  init() async throws {
    folder = TemporaryDirectory()
    let lines = (0..<50).map { #"{"key":"k\#($0)","text":"value \#($0)","tags":["t\#($0 % 2)"]}"# }
    let run = await CommandRun(
      ["import", store, "things", "--disk-limit", "1MiB"], input: Array(lines.joined(separator: "\n").utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  @Test func `a copy has the records and the limit of the store, and verifies`() async {
    let run = await CommandRun("backup", store, copy)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.text.contains("50 entries"))
    #expect(await CommandRun("export", copy, "things").text == CommandRun("export", store, "things").text)
    #expect(await CommandRun("verify", copy).status == 0)
    #expect(await CommandRun("remove", copy, "things", "--tag", "t1").status == 0)
    #expect(await CommandRun("get", copy, "things", "k1").status == 1)
    #expect(await CommandRun("get", store, "things", "k1").text == "value 1")
    let limit = await CommandRun(["put", copy, "things", "b", "--disk-limit", "2MiB"], input: [1])
    #expect(limit.errors.contains("1048576"))
  }

  @Test func `a store in use is copied and verified`() async throws {
    let open = try Store(directory: store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    // The command runs in the process of the test, which cannot open the directory for reading and for writing.
    try await open.backup(to: copy)
    try await open.close()
    #expect(await CommandRun("verify", copy).status == 0)
  }

  @Test func `a directory with files is bad input, and stays as it was`() async throws {
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    _ = try folder.file("copy/mine", "text")
    let run = await CommandRun("backup", store, copy)
    #expect(run.status == 2)
    #expect(run.errors.contains("not empty"), "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == ["mine"])
    #expect(await CommandRun("backup", store, store).status == 2)
  }

  @Test func `a copy that cannot be read afterwards is no failed backup`() async {
    let summary = await BackupCommand.summary(of: folder.path + "/absent")
    #expect(summary.contains("the copy is complete"))
    #expect(summary.contains("'\(folder.path)/absent' does not exist"), "\(summary)")
  }

  @Test func `without a store, nothing is copied`() async {
    for directory in [folder.path + "/absent", folder.path] {
      #expect(await CommandRun("backup", directory, copy).status == 2)
    }
    #expect(!FileManager.default.fileExists(atPath: copy))
  }
}
