// SPDX-License-Identifier: Apache-2.0
//
// The double's reader of DialogScript, written apart from our writer so that the two check each other. What
// it does not know it refuses.
#include "double.h"

#include <stdexcept>

namespace
{

class words
{
  public:
    explicit words(const char *text) : at(text) {}
    /// The next word: {, }, a bare one, or one in quotes without them. "" at the end.
    std::string next()
    {
        skip();
        quoted = *at == '"';
        if (quoted) return string();
        if (*at == '{' || *at == '}') return std::string(1, *at++);
        std::string word;
        while (*at && !std::strchr(" \t\n{}\"", *at)) word += *at++;
        return word;
    }
    void expect(const char *word)
    {
        const std::string got = next();
        if (got != word)
            throw std::runtime_error("dialog script: '" + got + "' where '" + word + "' should be");
    }
    /// Words up to the closing brace.
    std::vector<std::string> list()
    {
        std::vector<std::string> found;
        expect("{");
        for (std::string word = next(); quoted || word != "}"; word = next()) {
            if (word.empty() && !quoted) throw std::runtime_error("dialog script: a list does not end");
            if (!quoted && word == "[") { // an expression: [ "text" language ]
                word = next();
                const std::string language = next();
                if (language != "python" && language != "hscript-expr")
                    throw std::runtime_error("dialog script: unknown language '" + language + "'");
                expect("]");
            }
            found.push_back(word);
        }
        return found;
    }

  private:
    void skip()
    {
        while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '#')
            if (*at == '#')
                while (*at && *at != '\n') at++;
            else
                at++;
    }
    std::string string()
    {
        std::string word;
        for (at++; *at && *at != '"'; at++) {
            if (*at == '\\' && at[1]) at++;
            word += *at;
        }
        if (*at != '"') throw std::runtime_error("dialog script: a string does not end");
        at++;
        return word;
    }
    const char *at;
    bool quoted = false;
};

PRM_Template read_parm(words &in, const std::string &folder)
{
    PRM_Template parm;
    parm.folder = folder;
    in.expect("{");
    for (std::string key = in.next(); key != "}"; key = in.next()) {
        if (key == "name") {
            parm.name = in.next();
        } else if (key == "label") {
            parm.label = in.next();
        } else if (key == "type") {
            parm.type = in.next();
        } else if (key == "size") {
            parm.size = std::stoi(in.next());
        } else if (key == "default") {
            parm.defaults = in.list();
        } else if (key == "disablewhen") {
            parm.disable_when = in.next();
        } else if (key == "help") {
            parm.help = in.next();
        } else if (key == "range") {
            const std::vector<std::string> range = in.list();
            for (size_t i = 0; i < 2; i++) {
                parm.range[i] = std::stod(range.at(i));
                parm.hard[i] = range.at(i).back() == '!';
            }
        } else if (key == "menu") {
            const std::vector<std::string> items = in.list();
            for (size_t i = 0; i + 1 < items.size(); i += 2) parm.menu.emplace_back(items[i], items[i + 1]);
        } else if (key == "parmtag") {
            const std::vector<std::string> tag = in.list();
            parm.tags[tag.at(0)] = tag.at(1);
        } else {
            throw std::runtime_error("dialog script: unknown key '" + key + "'");
        }
    }
    return parm;
}

void read_folder(words &in, std::vector<PRM_Template> &parms)
{
    std::string label;
    in.expect("{");
    for (std::string key = in.next(); key != "}"; key = in.next()) {
        if (key == "name")
            in.next();
        else if (key == "label")
            label = in.next();
        else if (key == "parm")
            parms.push_back(read_parm(in, label));
        else
            throw std::runtime_error("dialog script: unknown key '" + key + "' in a folder");
    }
}

} // namespace

PRM_TemplateBuilder::PRM_TemplateBuilder(const UT_StringHolder &, const char *dialog_script)
{
    words in(dialog_script);
    std::vector<PRM_Template> parms;
    in.expect("{");
    for (std::string key = in.next(); key != "}"; key = in.next()) {
        if (key == "name")
            in.next();
        else if (key == "group")
            read_folder(in, parms);
        else
            throw std::runtime_error("dialog script: unknown key '" + key + "'");
    }
    list = std::make_unique<PRM_Template[]>(parms.size() + 1);
    for (size_t i = 0; i < parms.size(); i++) list[i] = parms[i];
    list[parms.size()].is_end = true;
}

void PRM_TemplateBuilder::setCallback(const UT_StringRef &name, PRM_Callback callback)
{
    for (PRM_Template *parm = list.get(); !parm->is_end; parm++)
        if (parm->name == name.c_str()) parm->callback = callback;
}
