import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// Names and paths in the output of commands.
@Suite struct NamingTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  @Test func `control bytes in the name of a cache are escaped, as those of keys are`() async throws {
    #expect(await CommandRun(["put", store, "a\nb\u{1B}c", "k", "--disk-limit", "1MiB"], input: [1]).status == 0)
    let stat = await CommandRun("stat", store)
    #expect(stat.text.contains(#"a\x0ab\x1bc"#), "\(stat.text)")
    #expect(!stat.text.contains("\u{1B}"))
    let absent = await CommandRun("list", store, "other")
    #expect(absent.errors.contains(#"'a\x0ab\x1bc'"#), "\(absent.errors)")
    let json = await CommandRun("stat", store, "--json")
    let report = try JSONDecoder().decode(StatCommand.Report.self, from: Data(json.output))
    #expect(report.caches.map(\.name) == ["a\nb\u{1B}c"])
  }

  @Test func `control bytes in a tag are escaped in a list`() async {
    let line = #"{"key":"k","text":"x","tags":["t\u001b"]}"#
    #expect(await CommandRun(["import", store, "things", "--disk-limit", "1MiB"], input: Array(line.utf8)).status == 0)
    #expect(await CommandRun("list", store, "things").text.contains(#"t\x1b"#))
  }

  @Test func `a path that is no directory is described by what it is`() async throws {
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: folder.path + "/loop", withDestinationPath: folder.path + "/loop")
    try manager.createSymbolicLink(atPath: folder.path + "/dangling", withDestinationPath: "nowhere")
    _ = try folder.file("file", "text")
    let complaints = [
      "loop": "leads back to itself", "dangling": "is a symbolic link to 'nowhere', which does not exist",
      "absent": "does not exist", "file/below": "cannot be examined",
    ]
    for (name, complaint) in complaints {
      let run = await CommandRun("stat", folder.path + "/" + name)
      #expect(run.status == 2)
      #expect(run.errors.contains(complaint), "\(run.errors)")
    }
  }
}
