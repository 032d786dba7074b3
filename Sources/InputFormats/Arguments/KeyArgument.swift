import ArgumentParser
import CisternCore

/// A key on the command line: a text, or bytes in hexadecimal.
package struct KeyArgument: ParsableArguments {
  @Argument(help: "The key. Write -- before a key that begins with a hyphen.")
  var key: String

  @Flag(help: "The key is in hexadecimal. Use this for keys that are not text, for example numbers.")
  var hex = false

  package init() {}

  // The check is also here, and not only in `run`, so that the error message includes the usage of the command.
  package func validate() throws {
    _ = try bytes()
  }

  package func bytes() throws -> [UInt8] {
    try KeyText.bytes(key, isHexadecimal: hex)
  }
}
