import ArgumentParser
import InputFormats

/// The program `cistern`. All functions are in its subcommands.
package struct CisternProgram: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cistern",
    abstract: "Stress a two-tier cache, read and change its store on disk, and replay traces of requests.",
    discussion: ExitStatus.explanation,
    version: ProgramVersion.text,
    groupedSubcommands: [
      CommandGroup(name: "Test and measure", subcommands: [StressCommand.self, ReplayCommand.self]),
      CommandGroup(
        name: "Read and change a store on disk",
        subcommands: [
          StatCommand.self, ListCommand.self, GetCommand.self, PutCommand.self, RemoveCommand.self, VerifyCommand.self,
          CompactCommand.self, BackupCommand.self, ExportCommand.self, ImportCommand.self,
        ]),
    ])

  package init() {}

  /// Runs the program with the bytes of its arguments, and returns the exit code of the process.
  ///
  /// The program refuses bytes that are not text. A repaired text would name another key, cache or file.
  package static func run(_ arguments: [[UInt8]]) async -> Int32 {
    var texts: [String] = []
    for argument in arguments {
      guard let text = String(validating: argument, as: UTF8.self) else {
        Console.current.printError(
          """
          cistern: argument \(texts.count + 1), '\(KeyText.describe(argument))', is not valid UTF-8; \
          write a key that is not text in hexadecimal, with --hex
          """)
        return ExitStatus.badInput.rawValue
      }
      texts.append(text)
    }
    return await run(texts)
  }

  /// Runs the program with these arguments, and returns the exit code of the process.
  package static func run(_ arguments: [String]) async -> Int32 {
    let console = Console.current
    do {
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      try console.requireOutput()
      return ExitStatus.success.rawValue
    } catch let failure as CommandFailure {
      if !failure.message.isEmpty { console.printError("cistern: \(failure.message)") }
      return failure.status.rawValue
    } catch {
      let text = fullMessage(for: error)
      // Requested help goes to standard output. Help that follows an error goes to standard error.
      if exitCode(for: error).isSuccess {
        console.print(text)
        return ExitStatus.success.rawValue
      }
      console.printError(text)
      return ExitStatus.badInput.rawValue
    }
  }
}
