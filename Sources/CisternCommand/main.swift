import Foundation
import StressKit

StandardDescriptors.occupyClosed()
exit(await CisternProgram.run(ProcessArguments.bytes))
