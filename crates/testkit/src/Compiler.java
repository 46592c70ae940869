import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import javax.tools.ToolProvider;

/** Compiles as javac does, without its start: a line has the arguments, between tabs; the answer is a line with its errors. */
class Compiler {
    public static void main(String[] none) throws IOException {
        var javac = ToolProvider.getSystemJavaCompiler();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var said = new ByteArrayOutputStream();
            int code = javac.run(null, said, said, line.split("\t"));
            System.out.println(code == 0 ? "" : "javac ended with " + code + ": " + said.toString().replace('\n', '\t'));
        }
    }
}
